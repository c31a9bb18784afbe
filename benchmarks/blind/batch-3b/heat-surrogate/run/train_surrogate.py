import argparse, json, time
import numpy as np
import torch
import torch.nn as nn
import yaml

torch.set_num_threads(1)
cfg = yaml.safe_load(open("conf/train.yaml"))
torch.manual_seed(cfg["seed"])


def heat_fields(n, seed):
    """initial profile on 32 points -> profile after time t (periodic heat + advection), spectral solution"""
    g = np.random.default_rng(seed)
    k = np.fft.rfftfreq(32, 1 / 32)
    u0 = sum(g.normal(size=(n, 1)) / (j + 1) * np.sin(2 * np.pi * (j + 1) * np.arange(32) / 32 + g.uniform(0, 6.28, (n, 1))) for j in range(5))
    t = g.uniform(0.1, 1.0, (n, 1))
    u1 = np.fft.irfft(np.fft.rfft(u0) * np.exp(-0.02 * k**2 * t - 1j * k * t), n=32)
    return torch.tensor(np.concatenate([u0, t], 1), dtype=torch.float32), torch.tensor(u1, dtype=torch.float32)


xt, yt = heat_fields(20000, 1)
xv, yv = heat_fields(1000, 2)
net = nn.Sequential(nn.Linear(33, 128), nn.GELU(), nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 32))
opt = torch.optim.Adam(net.parameters(), lr=cfg["optim"]["lr"])
T = cfg["optim"]["decay_iters"]
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda it: max(0.0, 1.0 - it / T) ** cfg["optim"]["power"])
out = open("metrics.jsonl", "w")
for it in range(1, cfg["max_iters"] + 1):
    idx = torch.randint(0, len(xt), (cfg["batch"],))
    loss = nn.functional.mse_loss(net(xt[idx]), yt[idx])
    opt.zero_grad()
    loss.backward()
    gn = nn.utils.clip_grad_norm_(net.parameters(), 10.0).item()
    opt.step()
    sched.step()
    if it % 100 == 0:
        with torch.no_grad():
            p = net(xv)
            vl = nn.functional.mse_loss(p, yv).item()
            rel = ((p - yv).norm(dim=1) / yv.norm(dim=1)).mean().item()
        out.write(json.dumps({"iter": it, "lr": sched.get_last_lr()[0], "train_mse": round(loss.item(), 6), "val_mse": round(vl, 6), "val_rel_l2": round(rel, 5), "grad_norm": round(gn, 4)}) + "\n")
