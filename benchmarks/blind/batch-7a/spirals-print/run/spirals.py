import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
HIDDEN = 2


def spirals(n, seed):
    g = torch.Generator().manual_seed(seed)
    c = torch.randint(0, 3, (n,), generator=g)
    r = torch.rand(n, generator=g) * 2.2 + 0.2
    a = 2.2 * r + c * 2 * torch.pi / 3 + 0.12 * torch.randn(n, generator=g)
    return torch.stack([r * torch.cos(a), r * torch.sin(a)], 1), c


xtr, ytr = spirals(3000, 1)
xte, yte = spirals(600, 2)
net = nn.Sequential(nn.Linear(2, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(110):
    tot = 0
    for i in torch.randperm(3000).split(100):
        loss = F.cross_entropy(net(xtr[i]), ytr[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() / 30
    with torch.no_grad():
        a, b = net(xtr), net(xte)
    print("epoch %2d  train loss %.3f acc %.3f   test loss %.3f acc %.3f" % (epoch, tot, (a.argmax(1) == ytr).float().mean(), F.cross_entropy(b, yte), (b.argmax(1) == yte).float().mean()))
