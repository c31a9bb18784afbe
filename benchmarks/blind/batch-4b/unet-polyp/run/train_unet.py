import numpy as np, torch, torch.nn as nn

torch.manual_seed(0)
d = np.load("data/polyp_small.npz")
x, m, xv, mv = (torch.tensor(d[k]) for k in ("x", "m", "xv", "mv"))


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class UNetTiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.d1, self.d2, self.mid = block(1, 8), block(8, 16), block(16, 16)
        self.u1, self.out = block(24, 8), nn.Conv2d(8, 1, 1)
        self.pool, self.up = nn.MaxPool2d(2), nn.Upsample(scale_factor=2)

    def forward(self, t):
        a = self.d1(t)
        b = self.mid(self.d2(self.pool(a)))
        return torch.sigmoid(self.out(self.u1(torch.cat([self.up(b), a], 1))))


def seg_loss(p, t):
    bce = -(t * torch.log(p) + (1 - t) * torch.log(1 - p)).mean()
    dice = 1 - (2 * (p * t).sum() + 1) / (p.sum() + t.sum() + 1)
    return bce + dice


def iou(p, t):
    p = p > 0.5
    t = t > 0.5
    return ((p & t).sum() / ((p | t).sum() + 1e-6)).item()


net = UNetTiny()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 18)
for ep in range(18):
    net.train()
    run = 0.0
    for k, i in enumerate(torch.randperm(len(x)).split(20)):
        p = net(x[i])
        loss = seg_loss(p, m[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        run += loss.item()
        if k % 10 == 0:
            print("ep %d it %d loss %.5f  p.min %.2e  p.max %.8f" % (ep, k, loss.item(), p.min(), p.max()))
    net.eval()
    with torch.no_grad():
        pv = net(xv)
    print("== epoch %d  train %.4f  val %.4f  IoU %.4f" % (ep, run / (k + 1), seg_loss(pv, mv), iou(pv, mv)))
    sched.step()
