import torch, torch.nn as nn, torch.nn.functional as F
from features import tab
torch.manual_seed(8)
l1 = 0.00015
X, Y = tab(12000, d=40, k=3, seed=1); Xv, Yv = tab(1000, d=40, k=3, seed=2)
net = nn.Sequential(nn.Linear(40, 48), nn.GELU(), nn.Linear(48, 3))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 14)
for ep in range(14):
    a = b = 0.0
    for i in torch.randperm(12000).split(80):
        ce = F.cross_entropy(net(X[i]), Y[i])
        pen = l1 * sum(p.abs().sum() for p in net.parameters())
        opt.zero_grad()
        (ce + pen).backward()
        opt.step()
        a += ce.item() / 150; b += pen.item() / 150
    sch.step()
    with torch.no_grad():
        o = net(Xv); wn = sum(p.pow(2).sum() for p in net.parameters()).sqrt()
    print("ep %2d | tot %.4f = ce %.4f + l1 %.4f | val ce %.4f acc %.3f | ||w|| %.3f" % (ep, a + b, a, b, F.cross_entropy(o, Yv), (o.argmax(1) == Yv).float().mean(), wn))
