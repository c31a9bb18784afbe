import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.tensorboard import SummaryWriter

torch.manual_seed(2)
x = torch.rand(4096, 2) * 2 - 1
f = lambda z: torch.sin(3 * z[:, :1]) * torch.cos(2 * z[:, 1:])
net = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 400, 2, eta_min=1e-5)
tb = SummaryWriter("runs/sgdr")
for s in range(2800):
    b = torch.randint(4096, (128,))
    l = F.mse_loss(net(x[b]), f(x[b]))
    opt.zero_grad()
    l.backward()
    opt.step()
    sched.step()
    if s % 8 == 0:
        tb.add_scalar("mse", l.item(), s)
        tb.add_scalar("lr", sched.get_last_lr()[0], s)
tb.close()
