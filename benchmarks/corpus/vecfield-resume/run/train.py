import argparse
import logging
import os
import torch
import torch.nn as nn

p = argparse.ArgumentParser()
p.add_argument("--until", type=int, default=3000)
p.add_argument("--total", type=int, default=3000)
p.add_argument("--resume", default="")
a = p.parse_args()
logging.basicConfig(filename="train.log", filemode="a", format="%(asctime)s %(message)s", level=logging.INFO)
L = logging.info
torch.manual_seed(12)

net = nn.Sequential(nn.Linear(3, 80), nn.SiLU(), nn.Linear(80, 80), nn.SiLU(), nn.Linear(80, 3))
opt = torch.optim.Adam(net.parameters(), lr=1.0)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: 5e-3 * max(0.01, 1 - s / a.total))
start = 0
if a.resume:
    ck = torch.load(a.resume)
    net.load_state_dict(ck["net"])
    start = ck["step"]
    torch.manual_seed(1000 + start)
    L("resumed from %s at step %d", a.resume, start)


def lorenz(n):
    x = torch.randn(n, 3)
    s = 3 * x
    return x, torch.stack([(s[:, 1] - s[:, 0]), s[:, 0] * (2.8 - s[:, 2]) - s[:, 1], s[:, 0] * s[:, 1] - 2.7 * s[:, 2]], 1) / 10


for step in range(start, a.until):
    x, v = lorenz(64)
    loss = (net(x) - v).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 10 == 0:
        L("step %d loss %.6f lr %.3e", step, loss.item(), sched.get_last_lr()[0])
torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "sched": sched.state_dict(), "step": a.until}, "last.pt")
L("saved last.pt at %d", a.until)
