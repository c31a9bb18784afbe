import logging
import sys
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
logging.basicConfig(filename="gcn_cite.log", format="%(asctime)s %(levelname).1s %(message)s", level=logging.INFO)
cfg = dict(nodes=1200, communities=6, feat=48, hidden=16, lr=0.5, momentum=0.9, epochs=240, clip=2e-4, wd=5e-3)
rng = np.random.default_rng(3)
torch.manual_seed(3)

# stochastic block model citation graph
lab = rng.integers(0, cfg["communities"], cfg["nodes"])
same = lab[:, None] == lab[None]
A = rng.random((cfg["nodes"],) * 2) < np.where(same, 0.03, 0.003)
A = np.triu(A, 1)
A = A | A.T | np.eye(cfg["nodes"], dtype=bool)
d = A.sum(1) ** -0.5
S = torch.tensor(d[:, None] * A * d[None], dtype=torch.float32)
X = torch.tensor(rng.normal(size=(cfg["communities"], cfg["feat"]))[lab] + 2.5 * rng.normal(size=(cfg["nodes"], cfg["feat"])), dtype=torch.float32)
Y = torch.tensor(lab)
perm = torch.randperm(cfg["nodes"])
tr, va = perm[:700], perm[700:]


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Linear(cfg["feat"], cfg["hidden"])
        self.w2 = nn.Linear(cfg["hidden"], cfg["communities"])

    def forward(self, x):
        h = F.dropout(F.relu(S @ self.w1(x)), 0.5, self.training)
        return S @ self.w2(h)


net = GCN()
opt = torch.optim.SGD(net.parameters(), lr=cfg["lr"], momentum=cfg["momentum"], weight_decay=cfg["wd"])
logging.info("config %s", cfg)
for ep in range(cfg["epochs"]):
    net.train()
    loss = F.cross_entropy(net(X)[tr], Y[tr])
    opt.zero_grad()
    loss.backward()
    gn = nn.utils.clip_grad_norm_(net.parameters(), cfg["clip"])
    opt.step()
    if ep % 5 == 0 or ep == cfg["epochs"] - 1:
        net.eval()
        with torch.no_grad():
            o = net(X)
        logging.info("ep %03d loss=%.4f |g|=%.5f val_loss=%.4f val_acc=%.3f", ep, loss.item(), gn, F.cross_entropy(o[va], Y[va]).item(), (o[va].argmax(1) == Y[va]).float().mean().item())
logging.info("done")
