import logging, sys
import torch
import torch.nn as nn
import torch.nn.functional as F
import yaml
from data import topics

torch.set_num_threads(1)
cfg = yaml.safe_load(open("spam.yaml"))
torch.manual_seed(cfg["seed"])
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
log = logging.getLogger("spam")
x, y = topics(24000, K=2, V=500, L=16, seed=1, strength=0.45)
xv, yv = topics(1000, K=2, V=500, L=16, seed=2, strength=0.45)
log.info("train: %d ham / %d spam", (y == 0).sum(), (y == 1).sum())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(500, 32)
        self.r = nn.GRU(32, 32, batch_first=True)
        self.o = nn.Linear(32, 1)

    def forward(self, x):
        return self.o(self.r(self.e(x))[0].mean(1)).squeeze(1)


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"])
pw = torch.tensor(float(cfg["pos_weight"]))
sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.05, total_iters=cfg["epochs"] - 1)
for ep in range(cfg["epochs"]):
    tot = 0.0
    for i in torch.randperm(len(x)).split(64):
        loss = F.binary_cross_entropy_with_logits(net(x[i]), y[i].float(), pos_weight=pw)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(i) / len(x)
    with torch.no_grad():
        z = net(xv)
    pr = (z > 0).long()
    cm = [[int(((yv == a) & (pr == b)).sum()) for b in (0, 1)] for a in (0, 1)]
    log.info("epoch %d train_loss %.4f val_loss %.4f acc %.3f confusion %s", ep, tot, F.binary_cross_entropy_with_logits(z, yv.float(), pos_weight=pw), (pr == yv).float().mean(), cm)
    sched.step()
