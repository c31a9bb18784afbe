import math
import torch
import torch.nn as nn
import torch.nn.functional as F
import yaml

cfg = yaml.safe_load(open("cfg.yaml"))
torch.manual_seed(1)


def rings(n, k=7):
    y = torch.randint(k, (n,))
    r = 0.4 + 0.4 * y + 0.09 * torch.randn(n)
    a = torch.rand(n) * 2 * math.pi
    return torch.stack([r * a.cos(), r * a.sin()], 1), y


x, y = rings(3000)
xv, yv = rings(1000)
model = nn.Sequential(nn.Linear(2, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 7))
opt = torch.optim.SGD(model.parameters(), lr=cfg["lr"], momentum=0.9)


def adjust(epoch):
    t = min(epoch, cfg["t_max"]) / cfg["t_max"]
    for g in opt.param_groups:
        g["lr"] = cfg["eta_min"] + 0.5 * (cfg["lr"] - cfg["eta_min"]) * (1 + math.cos(math.pi * t))
    return opt.param_groups[0]["lr"]


for epoch in range(cfg["epochs"]):
    lr = adjust(epoch)
    tot = 0.0
    for b in torch.randperm(len(x)).split(cfg["batch"]):
        loss = F.cross_entropy(model(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(b) / len(x)
    with torch.no_grad():
        o = model(xv)
        print(f"epoch {epoch:3d}  lr {lr:.5f}  train {tot:.4f}  dev/xent {F.cross_entropy(o, yv):.4f}  dev/acc {(o.argmax(1) == yv).float().mean():.4f}", flush=True)
