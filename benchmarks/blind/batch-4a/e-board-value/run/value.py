import torch
import torch.nn as nn
import torch.nn.functional as F
torch.set_num_threads(1)
torch.manual_seed(0)


def maze(n):
    """9 cells of a board, label = who wins (none / x / o)"""
    b = torch.randint(-1, 2, (n, 9)).float()
    lines = torch.tensor([[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]])
    s = b[:, lines].sum(-1)
    x, o = (s == 3).any(1), (s == -3).any(1)
    return b, torch.where(x & ~o, 1, torch.where(o & ~x, 2, 0))


def balanced(n):
    b, y = maze(n * 8)
    k = n // 3
    idx = torch.cat([(y == c).nonzero()[:k, 0] for c in range(3)])
    return b[idx], y[idx]


class ValueNet(nn.Module):
    def __init__(self, h=96):
        super().__init__()
        self.l1, self.l2, self.l3 = nn.Linear(9, h), nn.Linear(h, h), nn.Linear(h, 3)
        self.reset()

    def reset(self):
        for m in (self.l1, self.l2, self.l3):
            nn.init.constant_(m.weight, 0.05)
            nn.init.zeros_(m.bias)

    def forward(self, b):
        return self.l3(F.relu(self.l2(F.relu(self.l1(b)))))


net = ValueNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
EP, N = 40, 50
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EP)
XV, YV = balanced(1500)
X, Y = balanced(9000)
for ep in range(EP):
    L = 0.0
    for i in torch.randperm(len(Y)).split(150):
        l = F.cross_entropy(net(X[i]), Y[i]); opt.zero_grad(); l.backward(); opt.step(); L += l.item() * len(i) / len(Y)
    sch.step()
    with torch.no_grad():
        o = net(XV)
    print("ep %02d  train %.4f  valid %.4f  valid_acc %.1f%%  |w1|=%.3f std(w1 rows)=%.5f" % (ep, L, F.cross_entropy(o, YV), 100 * (o.argmax(1) == YV).float().mean(), net.l1.weight.norm(), net.l1.weight.std(0).mean()))
