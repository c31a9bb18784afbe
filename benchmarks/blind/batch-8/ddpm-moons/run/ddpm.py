import argparse
import math
import torch
import torch.nn as nn

ap = argparse.ArgumentParser()
ap.add_argument("--T", type=int, default=50)
ap.add_argument("--n-epochs", dest="n_epochs", type=int, default=6)
ap.add_argument("--lr", type=float, default=2e-4)
ap.add_argument("--batch", type=int, default=128)
args = ap.parse_args()
print(args)
torch.manual_seed(0)


def moons(n):
    t = torch.rand(n) * math.pi
    s = (torch.rand(n) < 0.5).float()
    x = torch.stack([torch.cos(t) * (1 - 2 * s) + s, torch.sin(t) * (1 - 2 * s) + 0.5 * s], 1)
    return (x - torch.tensor([0.5, 0.25])) * 1.5 + 0.03 * torch.randn(n, 2)


betas = torch.linspace(1e-4, 0.2, args.T)
abar = torch.cumprod(1 - betas, 0)
X = moons(4096)
net = nn.Sequential(nn.Linear(2 + 16, 96), nn.SiLU(), nn.Linear(96, 96), nn.SiLU(), nn.Linear(96, 2))
freq = torch.exp(torch.linspace(0, 5, 8))
opt = torch.optim.Adam(net.parameters(), lr=args.lr)


def emb(t):
    a = t[:, None] / args.T * freq
    return torch.cat([a.sin(), a.cos()], 1)


for epoch in range(args.n_epochs):
    acc = 0.0
    for idx in torch.randperm(len(X)).split(args.batch):
        x0 = X[idx]
        t = torch.randint(0, args.T, (len(x0),))
        eps = torch.randn_like(x0)
        xt = abar[t].sqrt()[:, None] * x0 + (1 - abar[t]).sqrt()[:, None] * eps
        loss = (net(torch.cat([xt, emb(t.float())], 1)) - eps).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        acc += loss.item() * len(idx)
    print(f"epoch {epoch + 1:>3}/{args.n_epochs}  eps_mse={acc / len(X):.4f}", flush=True)
torch.save(net.state_dict(), "ddpm.pt")
