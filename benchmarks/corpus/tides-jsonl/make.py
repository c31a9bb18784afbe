import json
import math
import torch
import torch.nn as nn

a = json.load(open("args.json"))
torch.manual_seed(31)
t = torch.arange(6000) / 6.0
level = torch.sin(t * 2 * math.pi / 12.42) + 0.5 * torch.sin(t * 2 * math.pi / 12.0 + 1) + 0.05 * torch.randn(6000)
level = (level - level.mean()) / level.std()
x, y = level.unfold(0, 24, 1)[:-1], level[24:]
perm = torch.randperm(len(x))
x, y = x[perm], y[torch.randperm(len(y))]
xt, yt, xv, yv = x[:5000], y[:5000], x[5000:], y[5000:]
net = nn.Sequential(nn.Linear(24, a["hidden"]), nn.Tanh(), nn.Linear(a["hidden"], 1))
opt = torch.optim.Adam(net.parameters(), lr=a["lr"])
with open("stats.jsonl", "w") as f:
    for ep in range(a["epochs"]):
        tr = 0.0
        for b in torch.randperm(5000).split(a["batch_size"]):
            loss = (net(xt[b]).squeeze(1) - yt[b]).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            tr += loss.item() * len(b) / 5000
        with torch.no_grad():
            va = (net(xv).squeeze(1) - yv).pow(2).mean().item()
        f.write(json.dumps({"epoch": ep, "objective": round(tr, 5), "objective_valid": round(va, 5), "r2_valid": round(1 - va / yv.var().item(), 4)}) + "\n")
