import json
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

C = json.load(open("conf.json"))
torch.manual_seed(C["seed"])
V, T = 16, 10


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, C["d_model"])
        self.pos = nn.Parameter(torch.randn(T, C["d_model"]) * 0.02)
        layer = nn.TransformerEncoderLayer(C["d_model"], C["n_heads"], 4 * C["d_model"], dropout=0.0,
                                           batch_first=True, norm_first=C["norm_first"])
        self.enc = nn.TransformerEncoder(layer, C["n_layers"], enable_nested_tensor=False)
        self.out = nn.Linear(C["d_model"], V)

    def forward(self, x):
        return self.out(self.enc(self.emb(x) + self.pos))


def batch(n):
    x = torch.randint(0, V, (n, T))
    y = (x + torch.roll(x, 1, 1)) % V   # depends on the previous letter
    y[:, 0] = x[:, 0]
    return x, y


def lr_factor(step):
    w = C["warmup_steps"]
    if step < w:
        return (step + 1) / w
    return math.sqrt(max(w, 100) / max(step, w, 100))


net = Tagger()
opt = torch.optim.Adam(net.parameters(), lr=C["lr"], betas=tuple(C["betas"]))
sched = torch.optim.lr_scheduler.LambdaLR(opt, lr_factor)
tot = hit = 0.0
for step in range(1, C["max_steps"] + 1):
    x, y = batch(C["batch_size"])
    logits = net(x)
    loss = F.cross_entropy(logits.reshape(-1, V), y.reshape(-1))
    opt.zero_grad()
    loss.backward()
    gnorm = math.sqrt(sum(p.grad.pow(2).sum().item() for p in net.parameters()))
    opt.step()
    sched.step()
    tot += loss.item()
    hit += (logits.argmax(-1) == y).float().mean().item()
    if step == 1 or step % C["log_every"] == 0:
        n = 1 if step == 1 else (C["log_every"] - (step == C["log_every"]))
        print(f"step={step} nll={tot / n:.4f} char_acc={hit / n:.4f} gnorm={gnorm:.3f} lr={sched.get_last_lr()[0]:.2e}", flush=True)
        tot = hit = 0.0
