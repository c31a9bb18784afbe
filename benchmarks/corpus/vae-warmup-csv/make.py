import csv
import json
import torch
import torch.nn as nn

h = json.load(open("hparams.json"))
torch.manual_seed(0)
B = torch.randn(4, 36)
x = torch.tanh(torch.randn(4000, 4) @ B / 2) + 0.05 * torch.randn(4000, 36)
z = h["latent_dim"]
enc, dec = nn.Sequential(nn.Linear(36, 96), nn.ReLU(), nn.Linear(96, 2 * z)), nn.Sequential(nn.Linear(z, 96), nn.ReLU(), nn.Linear(96, 36))
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=h["lr"])
w = csv.writer(open("vae.csv", "w"))
w.writerow(["epoch", "loss", "rec", "kld", "beta"])
for ep in range(h["epochs"]):
    beta = h["beta_max"] * min(1.0, ep / h["beta_warmup_epochs"])
    s = torch.zeros(3)
    for b in torch.randperm(4000).split(h["batch_size"]):
        mu, lv = enc(x[b]).chunk(2, 1)
        r = dec(mu + torch.randn_like(mu) * torch.exp(0.5 * lv))
        rec = ((r - x[b]) ** 2).sum(1).mean() * 8
        kl = -0.5 * (1 + lv - mu ** 2 - lv.exp()).sum(1).mean()
        loss = rec + beta * kl
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += torch.tensor([loss.item(), rec.item(), kl.item()]) / 40
    w.writerow([ep, *[f"{v:.4f}" for v in s.tolist()], round(beta, 4)])
