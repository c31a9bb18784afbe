import csv, math
import numpy as np, yaml
import torch, torch.nn as nn, torch.nn.functional as F

cfg = yaml.safe_load(open("conf/run.yml"))
torch.manual_seed(cfg["seed"]); rng = np.random.default_rng(cfg["seed"])

def spirals(n, arms=4):
    k = rng.integers(0, arms, n); r = rng.uniform(.2, 2, n); t = 2.2 * r + k * 2 * np.pi / arms + rng.normal(0, .12, n)
    return torch.tensor(np.stack([r * np.cos(t), r * np.sin(t)], 1), dtype=torch.float32), torch.tensor(k)

S = cfg["lr_schedule"]
def lr_of(ep):
    c, t = divmod(ep, S["period"])
    peak = S["base"] * S["restart_multiplier"] ** c
    return S["min"] + (peak - S["min"]) * (1 + math.cos(math.pi * t / S["period"])) / 2

X, Y = spirals(3000); Xt, Yt = spirals(1000)
net = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
opt = torch.optim.SGD(net.parameters(), lr=S["base"], momentum=cfg["momentum"])
w = csv.writer(open("metrics.csv", "w")); w.writerow("epoch,lr,loss,acc,test_loss,test_acc".split(","))
for ep in range(cfg["max_epochs"]):
    lr = lr_of(ep)
    for g in opt.param_groups: g["lr"] = lr
    L = A = 0
    for b in torch.randperm(len(X)).split(cfg["bs"]):
        o = net(X[b]); l = F.cross_entropy(o, Y[b])
        opt.zero_grad(); l.backward(); opt.step()
        L += l.item() * len(b) / len(X); A += (o.argmax(1) == Y[b]).sum().item() / len(X)
    with torch.no_grad(): o = net(Xt)
    w.writerow([ep, round(lr, 6), round(L, 5), round(A, 4), round(F.cross_entropy(o, Yt).item(), 5), round((o.argmax(1) == Yt).float().mean().item(), 4)])
