import logging
import numpy as np
import torch
from torch import nn

logging.basicConfig(filename="impute.log", level=logging.INFO, format="%(asctime)s:%(levelname)s:%(message)s")
torch.manual_seed(1)
x = np.load("data/load.npz")["x"]
x = torch.tensor((x - x.mean()) / x.std())
W = x.unfold(0, 48, 6)
n = int(len(W) * 0.85)
tr, va = W[:n], W[n:]
net = nn.Sequential(nn.Linear(96, 96), nn.GELU(), nn.Linear(96, 96), nn.GELU(), nn.Linear(96, 48))
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
EPOCHS = 24
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS)


def drop(b):
    """Sensor outages: up to four 2-hour gaps per window."""
    m = torch.zeros(b.shape)
    for r in range(len(b)):
        for _ in range(torch.randint(0, 5, ()).item()):
            s = torch.randint(0, 46, ()).item()
            m[r, s:s + 2] = 1.0
    return m


def masked_mse(pred, tgt, m):
    per_window = ((pred - tgt).pow(2) * m).sum(1) / m.sum(1).clamp(min=1.0)
    return per_window.mean()


def forward(b, m):
    return net(torch.cat([b * (1 - m), m], 1))


mv = drop(va)
mv[:, 20] = 1.0
for ep in range(EPOCHS):
    L = []
    for i in torch.randperm(n).split(64):
        m = drop(tr[i])
        loss = masked_mse(forward(tr[i], m), tr[i], m)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        L.append(loss.item())
    sch.step()
    with torch.no_grad():
        v = masked_mse(forward(va, mv), va, mv).item()
    logging.info("epoch=%02d train=%.5f val=%.5f lr=%.2e", ep, np.mean(L), v, sch.get_last_lr()[0])
