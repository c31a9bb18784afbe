import tomllib
import numpy as np
import torch
from torch import nn

cfg = tomllib.load(open("cfg.toml", "rb"))
torch.manual_seed(cfg["run"]["seed"])
z = np.load(cfg["data"]["file"])
n = cfg["data"]["n_train"]
x, y = torch.tensor(z["x"]), torch.tensor(z["y"])[:, None]
xtr, ytr, xva, yva = x[:n], y[:n], x[n:], y[n:]
net = nn.Linear(x.shape[1], 1)
opt = torch.optim.SGD(net.parameters(), lr=cfg["optim"]["lr"], momentum=cfg["optim"]["momentum"])
crit = nn.MSELoss()
step = 0
for epoch in range(cfg["run"]["epochs"]):
    seen = []
    for idx in torch.randperm(n).split(cfg["optim"]["batch_size"]):
        opt.zero_grad()
        loss = crit(net(xtr[idx]), ytr[idx])
        loss.backward()
        opt.step()
        seen.append(loss.item())
        step += 1
    with torch.no_grad():
        v = crit(net(xva), yva).item()
    print(f"epoch={epoch:02d} steps={step} mse_train={np.mean(seen):.4f} mse_val={v:.4f} last={['%.3f' % s for s in seen[-4:]]}")
