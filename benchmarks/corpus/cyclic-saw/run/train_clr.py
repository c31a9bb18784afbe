"""Cyclical learning rates (Smith 2017) on the gesture data."""
import csv
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(12)
BASE, MAX, HALF = 0.001, 0.09, 150
G = torch.randn(10, 20, 3)


def gestures(n):
    y = torch.randint(10, (n,))
    return (G[y] * (0.6 + 0.8 * torch.rand(n, 1, 1)) + 2.6 * torch.randn(n, 20, 3)).flatten(1), y


net = nn.Sequential(nn.Linear(60, 96), nn.ReLU(), nn.Linear(96, 10))
opt = torch.optim.SGD(net.parameters(), lr=BASE, momentum=0.9)
sched = torch.optim.lr_scheduler.CyclicLR(opt, BASE, MAX, step_size_up=HALF, mode="triangular", cycle_momentum=False)
vx, vy = gestures(2000)
w = csv.writer(open("clr.csv", "w"))
w.writerow(["iter", "lr", "loss", "val_loss", "val_acc"])
for it in range(10 * HALF):
    x, y = gestures(64)
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if it % 5 == 4:
        with torch.no_grad():
            o = net(vx)
        w.writerow([it, f"{sched.get_last_lr()[0]:.5f}", f"{loss.item():.5f}", f"{F.cross_entropy(o, vy).item():.5f}", f"{(o.argmax(1) == vy).float().mean().item():.4f}"])
