import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F

p = argparse.ArgumentParser()
p.add_argument("--precision", choices=["32", "16-true", "bf16-mixed"], default="32")
p.add_argument("--lr", type=float, default=1e-3)
a = p.parse_args()
print("args:", vars(a))
torch.manual_seed(0)
g = torch.Generator().manual_seed(12)
W = torch.randn(24, 6, generator=g)


def batch(n):
    x = torch.randn(n, 24, generator=g)
    return x, (x @ W).argmax(1)


model = nn.Sequential(nn.Linear(24, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 6))
if a.precision == "16-true":
    model = model.half()
optimizer = torch.optim.Adam(model.parameters(), lr=a.lr)
for step in range(600):
    x, y = batch(64)
    if a.precision == "16-true":
        x = x.half()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=a.precision == "bf16-mixed"):
        logits = model(x)
    loss = F.cross_entropy(logits.float(), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step < 10 or step % 50 == 0:
        w = model[0].weight
        print(f"step {step} loss {loss.item():.4f} acc {(logits.argmax(1) == y).float().mean().item():.3f} w_absmax {w.abs().max().item():.3f} ({w.dtype})")
