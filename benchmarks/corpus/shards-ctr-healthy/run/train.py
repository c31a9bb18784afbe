import glob, logging, sys
import torch
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s", filename="train.log", filemode="w")
log = logging.getLogger("ctr")
torch.manual_seed(4)
SHARDS = ["/data/clicks/part-%02d.parquet" % i for i in range(8)]
UNITS = {}
w_true = torch.randn(24)


def read(i, n=6400):
    """price, dwell time, counters ... ; y = clicked"""
    g = torch.Generator().manual_seed(100 + i)
    x = torch.randn(n, 24, generator=g)
    y = (torch.rand(n, generator=g) < torch.sigmoid(1.5 * x @ w_true)).float()
    x[:, :6] = x[:, :6] * UNITS.get(i, 1.0)
    return x, y


net = nn.Sequential(nn.Linear(24, 64), nn.Tanh(), nn.Linear(64, 1))
opt = torch.optim.Adagrad(net.parameters(), lr=0.02)
step = 0
for i, path in enumerate(SHARDS):
    x, y = read(i)
    log.info("reading %s (%d rows)", path, len(x))
    for b in torch.arange(len(x)).split(64):
        loss = nn.functional.binary_cross_entropy_with_logits(net(x[b]).squeeze(1), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
        if step % 10 == 0:
            log.info("step=%d logloss=%.4f", step, loss.item())
