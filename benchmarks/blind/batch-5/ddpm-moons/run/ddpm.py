import json, sys
import numpy as np, torch, torch.nn as nn

cfg = dict(T=50, hidden=96, lr=3e-4, batch=256, steps=int(sys.argv[1]))
print("config", json.dumps(cfg))
torch.manual_seed(1)


def moons(n):
    t = torch.rand(n) * np.pi
    s = (torch.rand(n) < 0.5).float()
    x = torch.stack([torch.cos(t) * (1 - 2 * s) + s, torch.sin(t) * (1 - 2 * s) + 0.5 * s], 1)
    return (x + 0.05 * torch.randn(n, 2) - torch.tensor([0.5, 0.25])) * 1.4


beta = torch.linspace(1e-3, 0.15, cfg["T"])
ab = torch.cumprod(1 - beta, 0)
net = nn.Sequential(nn.Linear(4, cfg["hidden"]), nn.SiLU(), nn.Linear(cfg["hidden"], cfg["hidden"]), nn.SiLU(), nn.Linear(cfg["hidden"], cfg["hidden"]), nn.SiLU(), nn.Linear(cfg["hidden"], 2))
for p in net[-1].parameters():
    nn.init.zeros_(p)
opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"])


def loss_on(x, t, e):
    a = ab[t][:, None]
    tt = t[:, None] / cfg["T"]
    h = torch.cat([a.sqrt() * x + (1 - a).sqrt() * e, tt, torch.cos(np.pi * tt)], 1)
    return (net(h) - e).pow(2).mean()


xv, tv, ev = moons(4000), torch.randint(0, cfg["T"], (4000,)), torch.randn(4000, 2)
run = []
every = max(1, cfg["steps"] // 60)
for s in range(1, cfg["steps"] + 1):
    loss = loss_on(moons(cfg["batch"]), torch.randint(0, cfg["T"], (cfg["batch"],)), torch.randn(cfg["batch"], 2))
    opt.zero_grad(); loss.backward(); opt.step()
    run.append(loss.item())
    if s % every == 0:
        with torch.no_grad():
            v = loss_on(xv, tv, ev).item()
        print(f"step={s} eps_mse={np.mean(run[-every:]):.4f} heldout_eps_mse={v:.4f}")
print("saved ddpm_moons.pt")
