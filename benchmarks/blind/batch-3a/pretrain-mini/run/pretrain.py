import time
import torch
import torch.nn as nn
import torch.nn.functional as F
import yaml
from data import stream

torch.set_num_threads(1)
cfg = yaml.safe_load(open("pretrain.yml"))
torch.manual_seed(cfg["seed"])
V, T = 50, 24
SOURCES = {"web": (11, 1.8), "books": (11, 1.8), "code": (57, 1.8)}    # name -> (table, sharpness)


class LM(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.e = nn.Embedding(V, d)
        self.r = nn.LSTM(d, 96, batch_first=True)
        self.o = nn.Linear(96, V)

    def forward(self, x):
        return self.o(self.r(self.e(x))[0])


def read(shard):
    name = shard.split("/")[0]
    if name == "mix":
        return torch.cat([read(f"{n}/x") .view(-1, 250)[::3] for n in SOURCES])[torch.randperm(sum(len(read(f"{n}/x").view(-1, 250)[::3]) for n in SOURCES))].flatten()
    seed, sharp = SOURCES[name]
    return stream(96000, V, seed, sharp, chains=96)


m = LM()
opt = torch.optim.AdamW(m.parameters(), lr=cfg["lr"], weight_decay=0.01)
it, t0, n = 0, time.time(), cfg["iters_per_shard"]
total = n * len(cfg["shards"])
for shard in cfg["shards"]:
    print(f"[data] loading shard {shard}", flush=True)
    data = read(shard)
    for _ in range(n):
        for g in opt.param_groups:
            g["lr"] = cfg["lr"] * (1 - 0.9 * it / total)
        ix = torch.randint(len(data) - T - 1, (32,))
        b = torch.stack([data[i:i + T + 1] for i in ix.tolist()])
        loss = F.cross_entropy(m(b[:, :-1]).flatten(0, 1), b[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        gn = nn.utils.clip_grad_norm_(m.parameters(), 1.0)
        opt.step()
        if it % 10 == 0:
            print(f"iter {it}: loss {loss.item():.4f}, gnorm {gn:.2f}, lr {opt.param_groups[0]['lr']:.2e}, {(time.time() - t0) / (it + 1) * 1000:.0f}ms/it", flush=True)
        it += 1
print("done")
