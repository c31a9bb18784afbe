import json
import torch
import torch.nn as nn
import torch.nn.functional as F

cfg = json.load(open("config.json"))
torch.manual_seed(cfg["seed"])
torch.set_num_threads(1)
gen = torch.Generator().manual_seed(7)
centres = torch.randn(cfg["speakers"], 20, generator=gen)


def pairs(n):
    """half the pairs come from one speaker; a recording may be paired with itself"""
    spk = torch.randint(cfg["speakers"], (n,), generator=gen)
    same = torch.rand(n, generator=gen) < 0.5
    other = torch.where(same, spk, torch.randint(cfg["speakers"], (n,), generator=gen))
    a = centres[spk] + 0.7 * torch.randn(n, 20, generator=gen)
    b = centres[other] + 0.7 * torch.randn(n, 20, generator=gen)
    twin = same & (torch.rand(n, generator=gen) < cfg["self_pair_rate"])
    b[twin] = a[twin]
    return a, b, (spk == other).float()


def distance(u, v):
    return torch.sqrt(((u - v) ** 2).sum(1))


def contrastive(d, same, margin):
    return (same * d ** 2 + (1 - same) * F.relu(margin - d) ** 2).mean()


encoder = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 16))
opt = torch.optim.Adam(encoder.parameters(), lr=cfg["lr"])
with open("train_metrics.jsonl", "w") as log:
    for step in range(1, cfg["steps"] + 1):
        a, b, same = pairs(cfg["batch_size"])
        d = distance(encoder(a), encoder(b))
        loss = contrastive(d, same, cfg["margin"])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            with torch.no_grad():
                acc = ((d < cfg["margin"] / 2).float() == same).float().mean().item()
            log.write(json.dumps({"step": step, "loss": round(loss.item(), 5), "pair_acc": round(acc, 4), "mean_dist": round(d.mean().item(), 4)}) + "\n")
