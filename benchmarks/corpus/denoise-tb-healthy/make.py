import json
import math
import torch
import torch.nn as nn
from torch.utils.tensorboard import SummaryWriter

c = json.load(open("config.json"))
torch.manual_seed(5)


def clean(n):
    yy, xx = torch.meshgrid(torch.linspace(0, 1, c["patch"]), torch.linspace(0, 1, c["patch"]), indexing="ij")
    a, f, p = torch.rand(n, 1, 1) * 6.28, torch.rand(n, 1, 1) * 3 + 1, torch.rand(n, 1, 1) * 6.28
    return (0.5 + 0.5 * torch.sin(6.28 * f * (a.cos() * xx + a.sin() * yy) + p))[:, None]


xt, xv = clean(640), clean(128)
nv = xv + c["sigma"] * torch.randn_like(xv)
net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 1, 3, padding=1))
opt = torch.optim.Adam(net.parameters(), lr=c["lr"])
tb, step = SummaryWriter("tb"), 0
for ep in range(c["epochs"]):
    for b in torch.randperm(len(xt)).split(c["batch_size"]):
        noisy = xt[b] + c["sigma"] * torch.randn_like(xt[b])
        loss = nn.functional.mse_loss(net(noisy), xt[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tb.add_scalar("train/l2", loss.item(), step)
        step += 1
    with torch.no_grad():
        tb.add_scalar("val/psnr", -10 * math.log10(nn.functional.mse_loss(net(nv), xv).item()), step)
        tb.add_scalar("val/l2", nn.functional.mse_loss(net(nv), xv).item(), step)
tb.close()
