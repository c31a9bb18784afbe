import argparse
import os
import numpy as np
import torch
import torch.nn as nn

p = argparse.ArgumentParser()
p.add_argument("--resume", default="")
p.add_argument("--epochs", type=int, default=22)
p.add_argument("--lr", type=float, default=0.05)
p.add_argument("--gamma", type=float, default=0.75)
args = p.parse_args()

d = np.load("data/frames.npz")
X, Y = torch.tensor(d["x"]), torch.tensor(d["y"])
Xv, Yv = X[2400:], Y[2400:]
X, Y = X[:2400], Y[:2400]
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(X.shape[1], 32), nn.ReLU(), nn.Linear(32, 9))
opt = torch.optim.Adam(net.parameters(), lr=args.lr)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, args.gamma)
start = 0
if args.resume:
    ck = torch.load(args.resume)
    net.load_state_dict(ck["model"])
    start = ck["epoch"] + 1
    print(f"=> loaded checkpoint '{args.resume}' (epoch {ck['epoch']})")
for epoch in range(start, args.epochs):
    tot = 0.0
    for i in torch.randperm(len(X)).split(48):
        loss = nn.functional.cross_entropy(net(X[i]), Y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(i)
    with torch.no_grad():
        o = net(Xv)
        per = 100 * (o.argmax(1) != Yv).float().mean().item()
        vl = nn.functional.cross_entropy(o, Yv).item()
    print(f"epoch {epoch:2d} | lr {sched.get_last_lr()[0]:.6f} | xent {tot / len(X):.4f} | dev xent {vl:.4f} | dev FER {per:.2f}%", flush=True)
    sched.step()
    torch.save({"model": net.state_dict(), "epoch": epoch, "optimizer": opt.state_dict(), "sched": sched.state_dict()}, "last.pth")
    if os.environ.get("STOP") == str(epoch):
        print("Killed")
        break
