"""Hourly electricity load, 24h ahead. usage: train.py [--resume] [--epochs N]"""
import argparse
import math
import os
import torch
import torch.nn as nn
import torch.nn.functional as F

ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=20)
ap.add_argument("--resume", action="store_true")
args = ap.parse_args()
torch.set_num_threads(1)
torch.manual_seed(0)

t = torch.arange(6000.0)
load = torch.sin(6.283 * t / 24) + 0.4 * torch.sin(6.283 * t / 168) + 0.3 * torch.sin(6.283 * t / 24).pow(3) + 0.01 * torch.randn(6000)
win = load.unfold(0, 72, 1)
x, y = win[:, :48], win[:, 48:]
n_train = 5000

net = nn.Sequential(nn.Linear(48, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 24))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=30)
start = 0
if args.resume and os.path.exists("last.pt"):
    ck = torch.load("last.pt")
    net.load_state_dict(ck["model"])
    start = ck["epoch"] + 1
    print(f"=> resumed from last.pt (epoch {ck['epoch']})", flush=True)

for epoch in range(start, start + args.epochs):
    tot = 0.0
    for idx in torch.randperm(n_train).split(64):
        loss = F.mse_loss(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(idx) / n_train
    with torch.no_grad():
        val = F.mse_loss(net(x[n_train:]), y[n_train:]).item()
    print(f"epoch {epoch:3d} lr {opt.param_groups[0]['lr']:.5f} train_mse {tot:.5f} val_mse {val:.5f} mape {100 * math.sqrt(val) / 3:.2f}%", flush=True)
    sched.step()
    torch.save({"model": net.state_dict(), "epoch": epoch}, "last.pt")
