import csv
import numpy as np
import torch
import torch.nn.functional as F
from model import Head

torch.manual_seed(5)
d = np.load("data/tabc.npz")
X, y = torch.tensor(d["X"]), torch.tensor(d["y"])
N = 6800
net = Head()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
fh = open("metrics.csv", "w")
w = None
for epoch in range(20):
    ls = []
    for b in torch.randperm(N).split(64):
        loss = F.cross_entropy(net(X[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        ls.append(loss.item())
    probe = {}
    with torch.no_grad():
        o = net(X[N:], probe)
    row = dict(epoch=epoch, train_loss=np.mean(ls), val_loss=F.cross_entropy(o, y[N:]).item(), val_acc=(o.argmax(1) == y[N:]).float().mean().item(), **probe,
               grad_fc1=net.fc1.weight.grad.norm().item(), grad_out=net.out.weight.grad.norm().item(), grad_out_bias=net.out.bias.grad.norm().item())
    if w is None:
        w = csv.DictWriter(fh, row.keys())
        w.writeheader()
    w.writerow({k: f"{v:.5g}" for k, v in row.items()})
