import tomllib
import torch
import torch.nn as nn
import torch.nn.functional as F
from tqdm import tqdm

cfg = tomllib.load(open("config.toml", "rb"))
m, t = cfg["model"], cfg["train"]
torch.manual_seed(t["seed"])
items = torch.randn(2000, 24)
mix_img, mix_txt = torch.randn(24, 40) / 5, torch.randn(24, 40) / 5


def views(idx):
    z = items[idx]
    return z @ mix_img + 0.25 * torch.randn(len(idx), 40), z @ mix_txt + 0.25 * torch.randn(len(idx), 40)


enc = nn.ModuleList([nn.Sequential(nn.Linear(40, 96), nn.GELU(), nn.Linear(96, m["dim"])) for _ in range(2)])
opt = torch.optim.AdamW(enc.parameters(), lr=t["lr"], weight_decay=t["weight_decay"])
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, t["epochs"])


def sims(a, b):
    return F.normalize(enc[0](a), dim=1) @ F.normalize(enc[1](b), dim=1).T / m["temperature"]


for epoch in range(t["epochs"]):
    pbar = tqdm(torch.randperm(1600).split(t["batch"]), desc=f"[{epoch + 1}/{t['epochs']}]")
    total = 0.0
    for idx in pbar:
        s = sims(*views(idx))
        y = torch.arange(len(idx))
        loss = (F.cross_entropy(s, y) + F.cross_entropy(s.T, y)) / 2
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        pbar.set_postfix(nce=loss.item())
    sched.step()
    with torch.no_grad():
        s = sims(*views(torch.arange(1600, 2000)))
        y = torch.arange(400)
        tqdm.write(f"epoch {epoch + 1} info_nce={total / 25:.4f} heldout_nce(400)={F.cross_entropy(s, y).item():.4f} R@1={(s.argmax(1) == y).float().mean().item():.3f}")
