"""Cell segmentation, tiny U-Net. usage: python train_seg.py"""
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.tensorboard import SummaryWriter
from settings import *

torch.manual_seed(SEED)


def make(n, seed):
    g = torch.Generator().manual_seed(seed)
    yy, xx = torch.meshgrid(torch.arange(24.), torch.arange(24.), indexing="ij")
    m = torch.zeros(n, 24, 24)
    for _ in range(3):
        c = torch.rand(n, 2, 1, 1, generator=g) * 24
        r = 2 + 3 * torch.rand(n, 1, 1, generator=g)
        m = torch.maximum(m, ((yy - c[:, 0]) ** 2 + (xx - c[:, 1]) ** 2 < r ** 2).float())
    img = m * .9 + .5 * torch.randn(n, 24, 24, generator=g)
    return img[:, None], m[:, None]


class UNet(nn.Module):
    def __init__(self, c=12):
        super().__init__()
        self.d1 = nn.Conv2d(1, c, 3, padding=1)
        self.d2 = nn.Conv2d(c, 2 * c, 3, padding=1)
        self.mid = nn.Conv2d(2 * c, 2 * c, 3, padding=1)
        self.u1 = nn.Conv2d(3 * c, c, 3, padding=1)
        self.out = nn.Conv2d(c, 1, 1)

    def forward(self, x):
        a = F.relu(self.d1(x))
        b = F.relu(self.mid(F.relu(self.d2(F.max_pool2d(a, 2)))))
        return self.out(F.relu(self.u1(torch.cat([a, F.interpolate(b, scale_factor=2)], 1))))


xt, yt = make(600, 1)
xv, yv = make(120, 2)
net = UNet()
opt = torch.optim.SGD(net.parameters(), lr=BASE_LR, momentum=0.9)
sched = torch.optim.lr_scheduler.CyclicLR(opt, base_lr=BASE_LR, max_lr=MAX_LR, step_size_up=STEP_UP, step_size_down=STEP_DOWN, cycle_momentum=False, mode=MODE)
tb = SummaryWriter(LOGDIR)
step = 0
for epoch in range(EPOCHS):
    for i in torch.randperm(len(xt)).split(BATCH):
        loss = F.binary_cross_entropy_with_logits(net(xt[i]), yt[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if step % 5 == 0:
            tb.add_scalar("train/loss", loss.item(), step)
            tb.add_scalar("train/lr", sched.get_last_lr()[0], step)
        step += 1
    with torch.no_grad():
        p = net(xv)
        hit = ((p > 0) & (yv > .5)).sum().item()
        dice = 2 * hit / max(1, ((p > 0).sum() + yv.sum()).item())
    tb.add_scalar("val/loss", F.binary_cross_entropy_with_logits(p, yv).item(), epoch)
    tb.add_scalar("val/dice", dice, epoch)
tb.close()
