import json, math, sys, torch, torch.nn as nn, torch.nn.functional as F
from loaders import markov
cfg = json.load(open("conf.json"))
torch.manual_seed(cfg["seed"])
V = 20
data = markov(3000, 20, V, seed=1); val = markov(300, 20, V, seed=2)

class LM(nn.Module):
    def __init__(self, d, n_layer, n_head):
        super().__init__()
        self.emb = nn.Embedding(V, d); self.pos = nn.Parameter(torch.randn(1, 19, d) * 0.02)
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, n_head, 2 * d, dropout=0.0, batch_first=True), n_layer)
        self.head = nn.Linear(d, V)
        self.register_buffer("mask", torch.triu(torch.full((19, 19), float("-inf")), 1))
    def forward(self, x):
        return self.head(self.blocks(self.emb(x) + self.pos, mask=self.mask))

def lr_at(s):
    if s < cfg["warmup_iters"]:
        return cfg["lr"] * (s + 1) / cfg["warmup_iters"]
    r = (s - cfg["warmup_iters"]) / (cfg["iters"] - cfg["warmup_iters"])
    return cfg["lr"] * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * r)))

model = LM(cfg["d_model"], cfg["n_layer"], cfg["n_head"])
opt = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
print(f"number of parameters: {sum(p.numel() for p in model.parameters())/1e6:.2f}M")
for it in range(cfg["iters"] + 1):
    for g in opt.param_groups: g["lr"] = lr_at(min(it, cfg["iters"]))
    if it % 100 == 0:
        with torch.no_grad(): vl = F.cross_entropy(model(val[:, :-1]).flatten(0, 1), val[:, 1:].flatten())
        print(f"step {it}: val loss {vl:.4f}")
    b = data[torch.randint(3000, (24,))]
    loss = F.cross_entropy(model(b[:, :-1]).flatten(0, 1), b[:, 1:].flatten())
    opt.zero_grad(); loss.backward()
    gn = nn.utils.clip_grad_norm_(model.parameters(), cfg["grad_clip"])
    opt.step()
    if it % 10 == 0: print(f"iter {it}: loss {loss.item():.4f}, gnorm {gn:.3f}, lr {lr_at(it):.3e}")
