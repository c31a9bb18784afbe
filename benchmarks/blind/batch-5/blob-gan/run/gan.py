import numpy as np
import torch
from torch import nn
from torch.nn.functional import softplus

torch.manual_seed(0)
Z, B, ITERS = 8, 128, 2400


def blobs(n):
    a = torch.randint(0, 6, (n,)) * np.pi / 3
    return torch.stack([a.cos(), a.sin()], 1) * 2 + 0.1 * torch.randn(n, 2)


def net(i, o, act):
    return nn.Sequential(nn.Linear(i, 64), act, nn.Linear(64, 64), act, nn.Linear(64, o))


G, D = net(Z, 2, nn.ReLU()), net(2, 1, nn.LeakyReLU(0.2))
opt_g = torch.optim.Adam(G.parameters(), lr=2e-6, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.9))
SIGMA = 0.0     # instance noise
ref = blobs(2000)
dirs = torch.randn(2, 32)
dirs = dirs / dirs.norm(dim=0)


def noisy(x):
    return x + SIGMA * torch.randn_like(x)


def sliced_w1(x):
    return ((x @ dirs).sort(0).values - (ref @ dirs).sort(0).values).abs().mean().item()


for it in range(1, ITERS + 1):
    r, f = D(noisy(blobs(B))), D(noisy(G(torch.randn(B, Z)).detach()))
    loss_d = softplus(-r).mean() + softplus(f).mean()
    opt_d.zero_grad(); loss_d.backward(); opt_d.step()
    p = D(noisy(G(torch.randn(B, Z))))
    loss_g = softplus(-p).mean()
    opt_g.zero_grad(); loss_g.backward(); opt_g.step()
    if it % 30 == 0:
        with torch.no_grad():
            w = sliced_w1(G(torch.randn(2000, Z)))
        print(f"[{it}/{ITERS}] Loss_D: {loss_d.item():.4f} Loss_G: {loss_g.item():.4f} D(x): {r.sigmoid().mean().item():.3f} D(G(z)): {f.sigmoid().mean().item():.4f}/{p.sigmoid().mean().item():.4f} SW1: {w:.3f}")
