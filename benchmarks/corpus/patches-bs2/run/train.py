import csv
import torch
import torch.nn as nn
import torch.nn.functional as F
import yaml

hp = yaml.safe_load(open("hp.yaml"))
torch.manual_seed(hp["seed"])
K = 6
proto = torch.randn(K, 1, 8, 8)


def patches(n):
    y = torch.randint(K, (n,))
    return proto[y] + 2.2 * torch.randn(n, 1, 8, 8), y


xv, yv = patches(1000)
net = nn.Sequential(nn.Conv2d(1, 12, 3), nn.Tanh(), nn.Flatten(), nn.Linear(432, K))
opt = torch.optim.SGD(net.parameters(), lr=hp["lr"], momentum=hp["momentum"])
out = csv.writer(open("metrics.csv", "w", newline=""))
out.writerow(["step", "loss", "val_loss", "val_acc"])
for step in range(hp["steps"]):
    x, y = patches(hp["batch_size"])
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        with torch.no_grad():
            o = net(xv)
        out.writerow([step, f"{loss.item():.4f}", f"{F.cross_entropy(o, yv).item():.4f}", f"{(o.argmax(1) == yv).float().mean().item():.3f}"])
    elif step % 10 == 0:
        out.writerow([step, f"{loss.item():.4f}", "", ""])
