import argparse
import logging
import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", filename="train.log", filemode="w")
ap = argparse.ArgumentParser()
ap.add_argument("--lr", type=float, default=0.14)
ap.add_argument("--steps", type=int, default=700)
a = ap.parse_args()
logging.info("args %s", a)
torch.manual_seed(0)
SPECIES = 1000
proto = torch.randn(SPECIES, 48)
net = nn.Sequential(nn.Linear(48, 256), nn.GELU(), nn.Linear(256, SPECIES))
opt = torch.optim.AdamW(net.parameters(), lr=a.lr, weight_decay=0.01)
sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.02, a.steps)
for step in range(a.steps):
    y = torch.randint(SPECIES, (256,))
    x = proto[y] + 0.5 * torch.randn(256, 48)
    z = net(x)
    loss = F.cross_entropy(z, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step < 20 or step % 10 == 0:
        logging.info("step %d train/loss %.4f top1 %.3f", step, loss.item(), (z.argmax(1) == y).float().mean().item())
