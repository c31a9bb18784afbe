"""Metric learning for part numbers: triplet loss on embeddings."""
import csv
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
torch.set_num_threads(1)
N_ID, DIM = 40, 24
proto = torch.randn(N_ID, DIM)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(DIM, 64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, x):
        return self.net(x)


def sample(n):
    a_id = torch.randint(0, N_ID, (n,))
    n_id = (a_id + torch.randint(1, N_ID, (n,))) % N_ID
    anchor = proto[a_id] + 0.7 * torch.randn(n, DIM)
    positive = proto[a_id] + 0.7 * torch.randn(n, DIM)
    same_scan = torch.rand(n) < 0.00005          # a part photographed once only is its own positive
    positive[same_scan] = anchor[same_scan]
    return anchor, positive, proto[n_id] + 0.7 * torch.randn(n, DIM)


def dist(a, b):
    return torch.sqrt(((a - b) ** 2).sum(dim=1))


enc = Encoder()
opt = torch.optim.Adam(enc.parameters(), lr=1e-3)
out = csv.writer(open("triplet.csv", "w", newline=""))
out.writerow(["step", "loss", "pos_dist", "neg_dist", "emb_norm"])
for step in range(1, 601):
    a, p, n = (enc(t) for t in sample(64))
    dp, dn = dist(a, p), dist(a, n)
    loss = F.relu(dp - dn + 1.0).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        out.writerow([step, round(loss.item(), 5), round(dp.mean().item(), 4), round(dn.mean().item(), 4), round(a.norm(dim=1).mean().item(), 4)])
