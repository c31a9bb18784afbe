"""Siamese signature matching with a margin loss."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(42)
torch.set_num_threads(1)
N_PERSON, DIM = 40, 50
person = torch.randn(N_PERSON, DIM)
owner = torch.arange(N_PERSON).repeat_interleave(20)
scans = person[owner] + 0.7 * torch.randn(len(owner), DIM)


def sample_pairs(n):
    a = torch.randint(0, len(owner), (n,))
    same = torch.rand(n) < 0.5
    b = torch.where(same, owner[a] * 20 + torch.randint(0, 20, (n,)), torch.randint(0, len(owner), (n,)))
    return scans[a], scans[b], (owner[a] == owner[b]).float()


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(DIM, 128), nn.ReLU(), nn.Linear(128, 16))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


def distance(u, v):
    return ((u - v) ** 2).sum(1).add(1e-8).sqrt()


enc = Encoder()
opt = torch.optim.Adam(enc.parameters(), lr=5e-4)
for it in range(1, 1501):
    x1, x2, match = sample_pairs(4)
    d = distance(enc(x1), enc(x2))
    loss = (match * d.pow(2) + (1 - match) * F.relu(1.0 - d).pow(2)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 50 == 0 or it == 1:
        with torch.no_grad():
            a, b, m = sample_pairs(400)
            hit = ((distance(enc(a), enc(b)) < 0.5).float() == m).float().mean().item()
        print("iter %4d  loss %.4f  pair acc %.3f" % (it, loss.item(), hit))
