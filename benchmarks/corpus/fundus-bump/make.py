import csv
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
K, D = 5, 60
proto = 0.28 * torch.randn(K, D)


def imgs(n):
    y = torch.randint(K, (n,))
    return proto[y] + torch.randn(n, D), y


xv, yv = imgs(2000)
net = nn.Sequential(nn.Linear(D, 64), nn.ReLU(), nn.Linear(64, K))
opt = torch.optim.SGD(net.parameters(), lr=0.12, momentum=0.9, weight_decay=5e-4)
E, B = 36, 6000 // 32
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 0.12, total_steps=E * B, pct_start=0.4, cycle_momentum=False)
w = csv.writer(open("fundus.csv", "w"))
w.writerow(["epoch", "lr", "loss", "val_loss", "val_kappa"])
for ep in range(E):
    t = 0.0
    for _ in range(B):
        x, y = imgs(32)
        l = F.cross_entropy(net(x), y)
        opt.zero_grad()
        l.backward()
        opt.step()
        sched.step()
        t += l.item() / B
    with torch.no_grad():
        o = net(xv)
        acc = (o.argmax(1) == yv).float().mean().item()
    w.writerow([ep, f"{sched.get_last_lr()[0]:.5f}", f"{t:.4f}", f"{F.cross_entropy(o, yv).item():.4f}", f"{(acc - 0.2) / 0.8:.4f}"])
