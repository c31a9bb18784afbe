import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
g = torch.Generator().manual_seed(0)
X = torch.randn(3000, 10, generator=g)
Y = (X[:, :1] * X[:, 1:2] + X[:, 2:3].abs())
Y = (Y - Y.mean()) / Y.std()


class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.l1 = nn.Linear(10, width)
        self.l2 = nn.Linear(width, width)
        self.l3 = nn.Linear(width, 1)
        for l in (self.l1, self.l2):
            nn.init.constant_(l.bias, -4.0)

    def forward(self, x, stats=None):
        h1 = F.relu(self.l1(x))
        h2 = F.relu(self.l2(h1))
        if stats is not None:
            for h in (h1, h2):
                stats.append((h.sum(0) == 0).float().mean().item())
        return self.l3(h2)


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(20):
    tot = 0.0
    for i in torch.randperm(2700).split(60):
        loss = F.mse_loss(net(X[i]), Y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() / 45
    st = []
    with torch.no_grad():
        v = F.mse_loss(net(X[2700:], st), Y[2700:]).item()
    print("epoch {:2d} | mse {:.4f} | val {:.4f} | inactive units l1 {:.0%} l2 {:.0%} | grad l1 {:.1e} l3 {:.1e}".format(epoch, tot, v, st[0], st[1], net.l1.weight.grad.norm(), net.l3.bias.grad.norm()))
