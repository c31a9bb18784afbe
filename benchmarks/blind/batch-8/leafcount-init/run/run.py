import numpy as np
import torch
import torch.nn.functional as F
from nets import leafnet

torch.manual_seed(13)
d = np.load("data/leaves.npz")
x, y, xv, yv = (torch.tensor(d[k]) for k in ("x", "y", "xv", "yv"))
net = leafnet()
opt = torch.optim.Adam(net.parameters(), lr=3e-4)
for ep in range(1, 13):
    losses = []
    for i in torch.randperm(len(x)).split(40):
        loss = F.cross_entropy(net(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
        if ep == 1 and len(losses) % 5 == 1:
            print("  it %3d loss %.2f" % (len(losses), loss.item()))
    with torch.no_grad():
        o = net(xv)
    print("EP %02d | tr %.3f | te %.3f | te.acc %.3f" % (ep, np.mean(losses), F.cross_entropy(o, yv).item(), (o.argmax(1) == yv).float().mean().item()))
