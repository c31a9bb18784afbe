import torch
import torch.nn as nn
from torch.utils.tensorboard import SummaryWriter

torch.manual_seed(11)
TABLE = {0: 1e-3, 1000: 5e-4, 2000: 1e-1}


def scene(n):
    """rays through a two-plane scene: position and direction in, depth out"""
    o, d = torch.rand(n, 2), torch.randn(n, 2)
    d = d / d.norm(dim=1, keepdim=True)
    z = torch.where(d[:, 0] > 0, (1.5 - o[:, 0]) / d[:, 0].abs().clamp(min=0.3), (0.5 + o[:, 0]) / d[:, 0].abs().clamp(min=0.3))
    return torch.cat([o, d], 1), z[:, None]


net = nn.Sequential(nn.Linear(4, 96), nn.SiLU(), nn.Linear(96, 96), nn.SiLU(), nn.Linear(96, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
tb = SummaryWriter("lightning_logs/version_3")
xv, zv = scene(1000)
for step in range(3000):
    lr = [v for k, v in TABLE.items() if k <= step][-1]
    opt.param_groups[0]["lr"] = lr
    x, z = scene(128)
    loss = nn.functional.smooth_l1_loss(net(x), z)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        tb.add_scalar("train/smooth_l1", loss.item(), step)
        tb.add_scalar("optim/lr", lr, step)
    if step % 100 == 99:
        with torch.no_grad():
            tb.add_scalar("val/abs_rel", ((net(xv) - zv).abs() / zv).mean().item(), step)
tb.close()
