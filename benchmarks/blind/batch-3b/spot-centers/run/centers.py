import time
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(0)
GAMMA, ALPHA = 2.0, 0.25


def heatmaps(n, seed, s=16):
    """sparse spots on a noisy plate -> one positive cell per spot on an 8x8 grid"""
    g = np.random.default_rng(seed)
    img = 0.2 * g.normal(size=(n, 1, s, s))
    tgt = np.zeros((n, 1, s // 2, s // 2))
    for k in range(n):
        for _ in range(g.integers(1, 4)):
            i, j = g.integers(1, s - 1, 2)
            img[k, 0, i - 1:i + 2, j - 1:j + 2] += g.uniform(1, 12)
            tgt[k, 0, i // 2, j // 2] = 1
    return torch.tensor(img, dtype=torch.float32), torch.tensor(tgt, dtype=torch.float32)


class CenterNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(), nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(), nn.Conv2d(24, 1, 1))

    def forward(self, x):
        return torch.sigmoid(self.net(x))


def focal(p, t):
    pos = -ALPHA * (1 - p) ** GAMMA * torch.log(p) * t
    neg = -(1 - ALPHA) * p**GAMMA * torch.log(1 - p) * (1 - t)
    return (pos + neg).sum() / t.sum()


xt, tt = heatmaps(1600, 1)
xv, tv = heatmaps(300, 2)
net = CenterNet()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
t0 = time.time()
for epoch in range(1, 23):
    run = []
    if epoch in (13, 18):
        for g in opt.param_groups:
            g["lr"] *= 0.3
    for it, i in enumerate(torch.randperm(len(xt)).split(32)):
        loss = focal(net(xt[i]), tt[i])
        opt.zero_grad()
        loss.backward()
        gn = nn.utils.clip_grad_norm_(net.parameters(), 3.0)
        opt.step()
        run.append(loss.item())
        if it % 10 == 0:
            print(f"epoch {epoch:2d} it {it:2d} hm_loss {run[-1]:.5f} gn {gn:.4f}")
    with torch.no_grad():
        pv = net(xv)
        hit = ((pv > 0.5) == (tv > 0.5)).float().mean().item()
        rec = ((pv > 0.5) & (tv > 0.5)).sum().item() / tv.sum().item()
        vl = focal(pv, tv).item()
    print(f"== epoch {epoch:2d} train {np.mean(run):.5f} val {vl:.5f} cell_acc {hit:.4f} recall {rec:.4f} [{time.time() - t0:.0f}s]")
