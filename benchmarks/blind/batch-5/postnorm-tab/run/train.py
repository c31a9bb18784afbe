import logging
import sys
import numpy as np
import torch
import torch.nn.functional as F
import yaml
from torch import nn

logging.basicConfig(stream=sys.stdout, format="[%(asctime)s][%(name)s] %(message)s", level=logging.INFO)
log = logging.getLogger("tabres")
C = yaml.safe_load(open("cfg.yaml"))
M, O = C["model"], C["optim"]
torch.manual_seed(C["seed"])
d = np.load("data/tabc.npz")
X, y = torch.tensor(d["X"]), torch.tensor(d["y"])
N = 6800


class Block(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(w, 2 * w), nn.ReLU(), nn.Linear(2 * w, w))
        self.n = nn.LayerNorm(w)

    def forward(self, x):
        return self.n(x + self.f(x)) if M["norm"] == "post" else x + self.f(self.n(x))


def lr_scale(s):
    w = O["warmup_steps"]
    if s < w:
        return (s + 1) / w
    return 1 - 0.95 * (s - w) / (C["steps"] - w)


net = nn.Sequential(nn.Linear(16, M["width"]), *[Block(M["width"]) for _ in range(M["blocks"])], nn.Linear(M["width"], 5))
opt = torch.optim.Adam(net.parameters(), lr=O["lr"])
sch = torch.optim.lr_scheduler.LambdaLR(opt, lr_scale)
log.info("params %d, %s-norm", sum(p.numel() for p in net.parameters()), M["norm"])
run = []
for s in range(1, C["steps"] + 1):
    b = torch.randint(0, N, (C["batch"],))
    loss = F.cross_entropy(net(X[b]), y[b])
    opt.zero_grad()
    loss.backward()
    gn = torch.stack([p.grad.norm() for p in net.parameters()]).norm().item()
    lr = sch.get_last_lr()[0]
    opt.step()
    sch.step()
    run.append(loss.item())
    if s <= 20 or s % 10 == 0:
        log.info("step %3d/%d loss %.4f gnorm %.3g lr %.2e", s, C["steps"], np.mean(run[-10:]) if s > 20 else run[-1], gn, lr)
    if s % 100 == 0:
        with torch.no_grad():
            q = net(X[N:])
        log.info("valid @%d: loss %.4f acc %.4f", s, F.cross_entropy(q, y[N:]).item(), (q.argmax(1) == y[N:]).float().mean().item())
