import json, time
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(8)
DT = torch.float16
EPOCHS, BS, LR = 14, 64, 2e-3


def depth_maps(n, seed, s=12):
    g = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:s, 0:s] / s
    a, b, c = (g.uniform(-1, 1, (n, 1, 1)) for _ in range(3))
    z = 10 + 5 * a * xx + 5 * b * yy + 3 * np.sin(4 * xx * (1 + 0.5 * c))  # metres
    img = np.stack([np.sin(z / 3), np.cos(z / 3)], 1) + 0.05 * g.normal(size=(n, 2, s, s))
    return torch.tensor(img.reshape(n, -1), dtype=torch.float32), torch.tensor(z.reshape(n, -1), dtype=torch.float32)


class DepthNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(288, 192), nn.ReLU(), nn.Linear(192, 128), nn.ReLU(), nn.Linear(128, 144))

    def forward(self, x):
        return self.body(x)


xt, zt = depth_maps(6400, 1)
xv, zv = depth_maps(160, 2)
master = DepthNet()                      # fp32 master weights
half = DepthNet().to(DT)                 # working copy
opt = torch.optim.Adam(master.parameters(), lr=LR)
scale = 128.0
log = open("events.jsonl", "w")
print(f"depth | precision {str(DT).split('.')[-1]} | static loss scale {scale:g} | params {sum(p.numel() for p in master.parameters())}")
step = 0
for ep in range(EPOCHS):
    for i in torch.randperm(len(xt)).split(BS):
        with torch.no_grad():
            for p, q in zip(half.parameters(), master.parameters()):
                p.copy_(q)
        pred = half(xt[i].to(DT))
        z = zt[i]
        loss = (pred.float() - z).pow(2).sum() / z.pow(2).sum()  # relative squared error
        half.zero_grad()
        (loss.float() * scale).backward()
        for p, q in zip(half.parameters(), master.parameters()):
            q.grad = p.grad.float() / scale
        gn = nn.utils.clip_grad_norm_(master.parameters(), 5.0).item()
        opt.step()
        if step % 10 == 0:
            log.write(json.dumps({"step": step, "epoch": ep, "loss": loss.item(), "grad_norm": gn, "pred_absmax": pred.abs().max().item(), "lr": opt.param_groups[0]["lr"]}) + "\n")
        step += 1
    for g in opt.param_groups:
        g["lr"] *= 0.68
    with torch.no_grad():
        v = F.mse_loss(half(xv.to(DT)).float(), zv).item()
    log.write(json.dumps({"epoch": ep, "val_mse": v}) + "\n")
    print(f"epoch {ep} val_mse {v:.4f}", flush=True)
