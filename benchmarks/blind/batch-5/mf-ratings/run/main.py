import json
import numpy as np
import torch
import yaml
from torch import nn

c = yaml.safe_load(open("conf.yaml"))
torch.manual_seed(c["seed"])
z = np.load(c["dataset"])
u, i, r = (torch.tensor(z[k]) for k in ("u", "i", "r"))
n_tr = int(len(r) * 0.85)


class MF(nn.Module):
    def __init__(self, n_u, n_i, k):
        super().__init__()
        self.p, self.q = nn.Embedding(n_u, k), nn.Embedding(n_i, k)
        self.bu, self.bi = nn.Embedding(n_u, 1), nn.Embedding(n_i, 1)
        self.mu = nn.Parameter(torch.zeros(()))
        for e in (self.p, self.q):
            nn.init.normal_(e.weight, std=0.1)
        for e in (self.bu, self.bi):
            nn.init.zeros_(e.weight)

    def forward(self, u, i):
        return self.mu + (self.bu(u) + self.bi(i)).squeeze(1) + (self.p(u) * self.q(i)).sum(1)


m = MF(400, 300, c["factors"])
opt = torch.optim.SGD(m.parameters(), lr=c["lr"], momentum=c["momentum"], weight_decay=c["l2"])
sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.1, total_iters=c["epochs"] * (n_tr // c["batch_size"] + 1))
f = open("metrics.jsonl", "w")
step = 0
for ep in range(c["epochs"]):
    run = []
    for b in torch.randperm(n_tr).split(c["batch_size"]):
        loss = (m(u[b], i[b]) - r[b]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        before = m.p.weight.detach().clone()
        opt.step()
        sched.step()
        run.append(loss.item())
        if step % 25 == 0:
            upd = ((m.p.weight.detach() - before).norm() / before.norm()).item()
            f.write(json.dumps({"step": step, "epoch": ep, "train/mse": round(float(np.mean(run[-25:])), 5),
                                "lr": sched.get_last_lr()[0], "upd_ratio": float(f"{upd:.3g}")}) + "\n")
        step += 1
    with torch.no_grad():
        v = (m(u[n_tr:], i[n_tr:]) - r[n_tr:]).pow(2).mean().item()
    f.write(json.dumps({"step": step, "epoch": ep, "val/mse": round(v, 5), "val/rmse": round(v ** 0.5, 5)}) + "\n")
