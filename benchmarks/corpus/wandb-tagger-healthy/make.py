import glob
import json
import math
import os
import torch
import torch.nn as nn
import yaml

files = glob.glob("wandb/run-*/files")[0]
cfg = {k: v["value"] for k, v in yaml.safe_load(open(files + "/config.yaml")).items() if k != "_wandb"}
torch.manual_seed(cfg["seed"])
V, T, D = 12, 8, cfg["d_model"]
emb = nn.Embedding(V, D)
pos = nn.Parameter(torch.randn(T, D))
enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(D, 4, 2 * D, 0.0, batch_first=True), cfg["n_layers"])
head = nn.Linear(D, V)
params = [*emb.parameters(), pos, *enc.parameters(), *head.parameters()]
opt = torch.optim.Adam(params, lr=cfg["learning_rate"])
hist, out = open(files + "/history.jsonl", "w"), open(files + "/output.log", "w")
for s in range(cfg["max_steps"]):
    lr = cfg["learning_rate"] * min(1, (s + 1) / max(1, cfg["warmup_steps"])) * (1 - s / cfg["max_steps"])
    opt.param_groups[0]["lr"] = lr
    x = torch.randint(V, (cfg["batch_size"], T))
    y = x.flip(1)
    o = head(enc(emb(x) + pos))
    loss = nn.functional.cross_entropy(o.flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    gn = nn.utils.get_total_norm([p.grad for p in params]).item()
    opt.step()
    if s % 5 == 0:
        row = {"train/loss": loss.item(), "train/acc": (o.argmax(-1) == y).float().mean().item(), "train/grad_norm": gn, "lr": lr, "_step": s}
        hist.write(json.dumps(row) + "\n")
        if s % 50 == 0:
            out.write(f"{s:4d}/{cfg['max_steps']}  loss {row['train/loss']:.3f}  acc {row['train/acc']:.3f}\n")
json.dump(row, open(files + "/wandb-summary.json", "w"))
