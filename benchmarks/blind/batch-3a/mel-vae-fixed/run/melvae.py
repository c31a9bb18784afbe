import csv
import torch
import torch.nn as nn
import torch.nn.functional as F
import yaml
from data import keywords

torch.set_num_threads(1)
c = yaml.safe_load(open("vae.yaml"))
torch.manual_seed(c["seed"])
x = keywords(12000, K=8, seed=1, noise=0.5)[0].flatten(1)
xv = keywords(1000, K=8, seed=2, noise=0.5)[0].flatten(1)
enc = nn.Sequential(nn.Linear(320, 128), nn.GELU(), nn.Linear(128, 2 * c["z"]))
dec = nn.Sequential(nn.Linear(c["z"], 128), nn.GELU(), nn.Linear(128, 320))
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=c["lr"])
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, c["epochs"])


def terms(b):
    mu, lv = enc(b).chunk(2, 1)
    r = dec(mu + torch.randn_like(mu) * (0.5 * lv).exp())
    return F.mse_loss(r, b, reduction="none").sum(1).mean(), 0.5 * (mu.pow(2) + lv.exp() - 1 - lv).sum(1).mean()


w = csv.writer(open("mel_vae.csv", "w"), lineterminator="\n")
w.writerow(["epoch", "recon", "kl", "objective", "val_recon", "val_kl"])
for ep in range(c["epochs"]):
    R = K = 0.0
    for i in torch.randperm(len(x)).split(100):
        rec, kl = terms(x[i])
        loss = rec + c["kl_weight"] * kl
        opt.zero_grad()
        loss.backward()
        opt.step()
        R += rec.item() / 120
        K += kl.item() / 120
    sched.step()
    with torch.no_grad():
        vr, vk = terms(xv)
    w.writerow([ep, f"{R:.3f}", f"{K:.5f}", f"{R + c['kl_weight'] * K:.3f}", f"{vr:.3f}", f"{vk:.5f}"])
