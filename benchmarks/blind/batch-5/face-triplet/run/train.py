import numpy as np
import torch
from torch import nn
from losses import batch_hard, pairwise_dist

torch.manual_seed(0)
d = np.load("data/glyphs_small.npz")
X, y = torch.tensor(d["X"]).flatten(1), torch.tensor(d["y"])
Xt, yt, Xv, yv = X[:1300], y[:1300], X[1300:], y[1300:]
net = nn.Sequential(nn.Linear(144, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 16))
opt = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=1e-4)
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 20)
for epoch in range(20):
    net.train()
    L = []
    for b in torch.randperm(len(Xt)).split(100):
        loss = batch_hard(net(Xt[b]), yt[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        L.append(loss.item())
    sch.step()
    net.eval()
    with torch.no_grad():
        dv = pairwise_dist(net(Xv)) + 1e6 * torch.eye(len(Xv))
        r1 = (yv[dv.argmin(1)] == yv).float().mean().item()
        vl = batch_hard(net(Xv), yv).item()
    print("epoch %2d | triplet %.4f (first %.4f) | val triplet %.4f | recall@1 %.3f" % (epoch, np.mean(L), L[0], vl, r1))
