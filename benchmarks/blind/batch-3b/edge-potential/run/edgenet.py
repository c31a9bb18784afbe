import json, logging, sys
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(21)
logging.basicConfig(stream=sys.stdout, format="%(asctime)s|%(message)s", level=logging.INFO)
info = logging.info


def particles(n, seed, k=6):
    """k charged particles in the plane -> potential energy class (quintile)"""
    g = np.random.default_rng(seed)
    pos, q = g.uniform(-1, 1, (n, k, 2)), g.choice([-1.0, 1.0], (n, k))
    d = np.sqrt(((pos[:, :, None] - pos[:, None]) ** 2).sum(-1) + 0.05)
    e = (q[:, :, None] * q[:, None] / d).sum((1, 2)) - (1 / np.sqrt(0.05)) * k
    cls = np.digitize(e, np.quantile(e, [0.2, 0.4, 0.6, 0.8]))
    return torch.tensor(np.concatenate([pos, q[..., None]], -1), dtype=torch.float32), torch.tensor(cls)


class EdgeNet(nn.Module):
    """message passing on the complete graph"""

    def __init__(self, h=64, classes=5):
        super().__init__()
        self.msg = nn.Sequential(nn.Linear(6, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU())
        self.upd = nn.Sequential(nn.Linear(h, h), nn.ReLU(), nn.Linear(h, classes))
        self.apply(self.reset)

    @staticmethod
    def reset(m):
        if isinstance(m, nn.Linear):
            nn.init.constant_(m.weight, 0.0)
            nn.init.zeros_(m.bias)

    def forward(self, x):
        n, k, _ = x.shape
        pair = torch.cat([x[:, :, None].expand(n, k, k, 3), x[:, None].expand(n, k, k, 3)], -1)
        return self.upd(self.msg(pair).mean((1, 2)))


xt, yt = particles(6000, 1)
xv, yv = particles(800, 2)
net = EdgeNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3, weight_decay=1e-5)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 16)
for ep in range(16):
    tot = []
    for i in torch.randperm(len(xt)).split(64):
        loss = F.cross_entropy(net(xt[i]), yt[i])
        opt.zero_grad()
        loss.backward()
        tot.append(loss.item())
        opt.step()
    with torch.no_grad():
        o = net(xv)
    info("ep=%d|loss=%.5f|val_loss=%.5f|val_acc=%.4f|g_msg0=%.3e|g_out=%.3e", ep, np.mean(tot), F.cross_entropy(o, yv).item(), (o.argmax(1) == yv).float().mean().item(), net.msg[0].weight.grad.norm().item(), net.upd[2].weight.grad.norm().item())
    sched.step()
