import csv
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import yaml

cfg = yaml.safe_load(open("conf.yaml"))
torch.manual_seed(cfg["seed"])


def bars(n, seed):
    g = np.random.default_rng(seed)
    lab = g.integers(0, 8, n)
    yy, xx = np.mgrid[0:12, 0:12]
    cx, cy = g.uniform(3, 9, (n, 1, 1)), g.uniform(3, 9, (n, 1, 1))
    th = (lab * np.pi / 8)[:, None, None]
    d = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
    return torch.tensor((np.exp(-d ** 2 / 1.5) + .5 * g.normal(size=(n, 12, 12)))[:, None], dtype=torch.float32), torch.tensor(lab)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 24, 3, padding=1)
        self.conv3 = nn.Conv2d(24, 24, 3, padding=1)
        self.fc = nn.Linear(24 * 9, 8)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv3(F.relu(self.conv2(x)))), 2)
        return self.fc(x.flatten(1))


xt, yt = bars(2400, 1)
xv, yv = bars(500, 2)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=cfg["optim"]["lr"], momentum=cfg["optim"]["momentum"])
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, cfg["sched"]["milestones"], gamma=cfg["sched"]["gamma"])
w = csv.writer(open("history.csv", "w", newline=""))
w.writerow("epoch lr loss acc val_loss val_acc".split())
for epoch in range(1, cfg["epochs"] + 1):
    s = c = 0.0
    for i in torch.randperm(len(xt)).split(cfg["batch_size"]):
        out = model(xt[i])
        loss = F.cross_entropy(out, yt[i])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        s += loss.item() * len(i)
        c += (out.argmax(1) == yt[i]).sum().item()
    with torch.no_grad():
        o = model(xv)
    w.writerow([epoch, optimizer.param_groups[0]["lr"], round(s / len(xt), 4), round(c / len(xt), 4), round(F.cross_entropy(o, yv).item(), 4), round((o.argmax(1) == yv).float().mean().item(), 4)])
    scheduler.step()
