import json, tomllib
import torch
from torch import nn
cfg = tomllib.load(open("settings.toml", "rb"))
torch.manual_seed(60); torch.set_num_threads(1)


def height(p):
    x, y = p[:, 0], p[:, 1]
    return .6 * torch.sin(3 * x) * torch.cos(2.5 * y) + .5 * torch.exp(-6 * ((x - .4) ** 2 + (y + .3) ** 2)) + .3 * torch.sin(5 * (x + y))


P = torch.rand(2560, 2) * 2 - 1
H = height(P)[:, None] + .01 * torch.randn(2560, 1)
Q = torch.rand(800, 2) * 2 - 1
HQ = height(Q)[:, None]
w = cfg["field"]["width"]
mods, i = [], 2
for _ in range(cfg["field"]["layers"]):
    mods += [nn.Linear(i, w), nn.Tanh()]
    i = w
net = nn.Sequential(*mods, nn.Linear(i, 1))
opt = torch.optim.Adam(net.parameters(), lr=cfg["fit"]["lr"])
hist = {"loss": [], "val_loss": []}
for ep in range(cfg["fit"]["epochs"]):
    t = 0
    bs = torch.randperm(len(P)).split(cfg["fit"]["batch"])
    for b in bs:
        loss = nn.functional.mse_loss(net(P[b]), H[b])
        opt.zero_grad(); loss.backward(); opt.step()
        t += loss.item() / len(bs)
    with torch.no_grad():
        hist["loss"].append(t); hist["val_loss"].append(nn.functional.mse_loss(net(Q), HQ).item())
json.dump(hist, open("history.json", "w"))
