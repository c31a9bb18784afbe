import json
import numpy as np
import torch
import yaml
from torch import nn

cfg = yaml.safe_load(open("config.yaml"))
DT = {"fp16": torch.float16, "fp32": None}[cfg["trainer"]["precision"]]
torch.manual_seed(3)
g = np.random.default_rng(0)
n = 6000
pos = g.uniform(0.7, 3.0, (n, 8))                     # pair distances
E = (4 * (pos ** -4 - pos ** -2)).sum(1) + 0.02 * g.normal(size=n)
X = torch.tensor(np.stack([pos, 1 / pos, pos ** -2], 1).reshape(n, -1), dtype=torch.float32)
y = torch.tensor((E - E.mean()) / E.std(), dtype=torch.float32)
X = (X - X.mean(0)) / X.std(0)
w = cfg["model"]["width"]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(24, w), nn.SiLU(), nn.Linear(w, w), nn.SiLU())
        self.q, self.k = nn.Linear(w, w), nn.Linear(w, w)
        self.out = nn.Linear(w, 1)

    def forward(self, x):
        h = self.f(x) * 48.0                        # units: meV
        gate = (self.q(h) * self.k(h)).sum(-1, keepdim=True)     # bilinear pooling
        return self.out(h * torch.tanh((gate - gate.mean()) / 4096.0)).squeeze(-1) / 48.0


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=cfg["optim"]["lr"])
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg["trainer"]["steps"])
log = open("log.jsonl", "w")
for s in range(1, cfg["trainer"]["steps"] + 1):
    b = torch.randint(0, 5400, (cfg["trainer"]["batch_size"],))
    with torch.autocast("cpu", dtype=DT, enabled=DT is not None):
        h = net.f(X[b]) * 48.0
        pred = net(X[b])
    loss = (pred.float() - y[b]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    gn = nn.utils.clip_grad_norm_(net.parameters(), cfg["optim"]["grad_clip"])
    opt.step()
    sch.step()
    if s % cfg["trainer"]["log_every"] == 0:
        with torch.no_grad(), torch.autocast("cpu", dtype=DT, enabled=DT is not None):
            gate = (net.q(h) * net.k(h)).sum(-1)
            v = (net(X[5400:]).float() - y[5400:]).pow(2).mean()
        log.write(json.dumps({"step": s, "loss": loss.item(), "val_loss": v.item(), "grad_norm": gn.item(), "gate_absmax": gate.abs().max().item(),
                              "act_absmax": h.abs().max().item(), "dtype": str(DT)}) + "\n")
