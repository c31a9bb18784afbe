import json
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(21)
IDS, DIM, EMB = 40, 32, 16
proto = torch.randn(IDS, DIM)
net = nn.Sequential(nn.Linear(DIM, 64), nn.ReLU(), nn.Linear(64, EMB))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
PER = 3000
WHO = torch.arange(IDS).repeat_interleave(PER)
BANK = proto[WHO] + 1.2 * torch.randn(IDS * PER, DIM)


def pairwise(a, b):
    sq = (a.unsqueeze(1) - b.unsqueeze(0)).pow(2).sum(-1)
    return sq.sqrt()


def batch(n=64):
    i = torch.randint(len(BANK), (n,))
    j = WHO[i] * PER + torch.randint(PER, (n,))
    return BANK[i], BANK[j], WHO[i]


log = open("triplet_log.jsonl", "w")
for it in range(1, 1501):
    a, p, who = batch()
    za, zp = net(a), net(p)
    d = pairwise(za, zp)
    same = who[:, None] == who[None]
    pos = d.diagonal()
    neg = d.masked_fill(same, 1e4).min(1).values
    hinge = F.relu(0.5 + pos - neg).mean()
    opt.zero_grad()
    hinge.backward()
    opt.step()
    if it % 5 == 0:
        log.write(json.dumps({"iter": it, "triplet_loss": hinge.item(), "d_pos": pos.mean().item(), "d_neg": neg.mean().item()}) + "\n")
