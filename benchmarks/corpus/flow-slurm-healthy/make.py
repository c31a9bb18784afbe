import sys
import time
import torch
import torch.nn as nn

torch.manual_seed(6)
print("Job 884213 on node gpu-a12, partition short")
print("loading /data/flows/jets_v3.h5 ... 250000 events")
net = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 2))
first = nn.Parameter(torch.zeros(2))
opt = torch.optim.Adam([*net.parameters(), first], lr=8e-4)


def events(n):
    a = torch.randn(n)
    b = 0.8 * torch.sin(2 * a) + 0.35 * torch.randn(n)
    return torch.tanh(1.8 * torch.stack([a, b], 1))


def to_line(x):
    x = x.clamp(-0.999999, 0.999999)
    return torch.atanh(x), torch.log1p(-x * x).sum(1)


for it in range(1, 5001):
    u, ld = to_line(events(128))
    t, s = net(u[:, :1]).chunk(2, 1)
    z = torch.cat([(u[:, :1] - first[0]) * torch.exp(-first[1]), (u[:, 1:] - t) * torch.exp(-s)], 1)
    loss = (0.5 * z.pow(2) + 0.918939).sum(1).mean() + first[1] + s.mean() + ld.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 25 == 0:
        print(f"[{it:5d}/5000] nll {loss.item():+.4f}")
        sys.stdout.flush()
print("done")
