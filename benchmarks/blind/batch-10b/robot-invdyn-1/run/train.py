import argparse
import logging
import os
import torch
import torch.nn as nn
import torch.nn.functional as F

p = argparse.ArgumentParser()
p.add_argument("--epochs", type=int, default=12)
p.add_argument("--resume", default="")
args = p.parse_args()
logging.basicConfig(filename="train.log", level=logging.INFO, format="%(asctime)s %(message)s")
torch.manual_seed(0)
g = torch.Generator().manual_seed(3)
X = torch.randn(4000, 30, generator=g)
W = torch.randn(30, 40, generator=g) / 5
Y = torch.tanh(X @ W) @ torch.randn(40, 4, generator=g) / 6 + 0.02 * torch.randn(4000, 4, generator=g)
net = nn.Sequential(nn.Linear(30, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 4))
opt = torch.optim.Adam(net.parameters(), lr=8e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=24, eta_min=1e-5)
start = 0
if args.resume:
    ck = torch.load(args.resume)
    net.load_state_dict(ck["model"])
    start = ck["epoch"]
    logging.info("resumed from %s (epoch %d)", args.resume, start)
for epoch in range(start + 1, args.epochs + 1):
    tot = 0.0
    for b in torch.randperm(3500).split(50):
        loss = F.mse_loss(net(X[b]), Y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() / 70
    lr = sched.get_last_lr()[0]
    sched.step()
    with torch.no_grad():
        val = F.mse_loss(net(X[3500:]), Y[3500:]).item()
    logging.info("epoch %2d lr %.2e train_mse %.5f val_mse %.5f", epoch, lr, tot, val)
    torch.save({"model": net.state_dict(), "epoch": epoch}, "last.pt")
