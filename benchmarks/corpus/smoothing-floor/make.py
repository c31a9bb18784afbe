import csv
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
P = torch.randn(20, 50)
def d(n):
    y = torch.randint(20, (n,)); return P[y] + 1.2 * torch.randn(n, 50), y
xt, yt = d(8000); xv, yv = d(2000)
net = nn.Sequential(nn.Linear(50, 128), nn.ReLU(), nn.Linear(128, 20))
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
w = csv.writer(open("metrics.csv", "w")); w.writerow(["epoch", "train_ce", "valid_ce", "train_top1", "valid_top1"])
for e in range(14):
    s = h = 0.0
    for b in torch.randperm(8000).split(100):
        o = net(xt[b]); l = F.cross_entropy(o, yt[b], label_smoothing=0.2); opt.zero_grad(); l.backward(); opt.step()
        s += l.item() / 80; h += (o.argmax(1) == yt[b]).sum().item() / 8000
    with torch.no_grad(): o = net(xv)
    w.writerow([e, f"{s:.4f}", f"{F.cross_entropy(o, yv, label_smoothing=0.2).item():.4f}", f"{h:.4f}", f"{(o.argmax(1) == yv).float().mean().item():.4f}"])
