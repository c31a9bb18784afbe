import csv
import json
import math
import torch
import torch.nn as nn

c = json.load(open("cfg.json"))
torch.manual_seed(7)
t = torch.linspace(0, 1, 32)
G = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32))
D = nn.Sequential(nn.Linear(32, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
og = torch.optim.Adam(G.parameters(), c["lr_g"], betas=(0.5, 0.99))
od = torch.optim.Adam(D.parameters(), c["lr_d"], betas=(0.5, 0.99))
bce, n = nn.functional.binary_cross_entropy_with_logits, c["batch"]
one, zero = torch.ones(n, 1), torch.zeros(n, 1)


def real():
    return torch.sin(2 * math.pi * ((1 + torch.rand(n, 1)) * t + torch.rand(n, 1))) * (0.7 + 0.3 * torch.rand(n, 1)) + 0.1 * torch.randn(n, 32)


w = csv.writer(open("gan_metrics.csv", "w"))
w.writerow(["step", "loss_d", "loss_g", "d_real", "d_fake"])
for s in range(c["steps"]):
    for _ in range(c["d_steps"]):
        r, f = D(real()), D(G(torch.randn(n, 8)).detach() + 0.1 * torch.randn(n, 32))
        ld = bce(r, one) + bce(f, zero)
        od.zero_grad()
        ld.backward()
        od.step()
    f2 = D(G(torch.randn(n, 8)) + 0.1 * torch.randn(n, 32))
    lg = -bce(f2, zero) if c["g_loss"] == "saturating" else bce(f2, one)
    og.zero_grad()
    lg.backward()
    og.step()
    if s % 5 == 0:
        w.writerow([s, f"{ld.item():.5f}", f"{lg.item():.5f}", f"{torch.sigmoid(r).mean().item():.4f}", f"{torch.sigmoid(f).mean().item():.4f}"])
