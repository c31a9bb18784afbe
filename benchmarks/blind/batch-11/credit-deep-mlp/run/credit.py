"""Tabular credit-risk classifier, deep MLP."""
import torch
from torch import nn

torch.manual_seed(3)
torch.set_num_threads(1)
DEPTH, WIDTH, LR, EPOCHS, BS = 12, 64, 0.05, 20, 100


def load(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 20, generator=g)
    y = ((x[:, 0] * 1.5 + x[:, 1] - x[:, 2] + 0.3 * x[:, 3] ** 2) > 0.3).long()
    return x, y


layers, d = [], 20
for _ in range(DEPTH):
    layers += [nn.Linear(d, WIDTH), nn.Sigmoid()]
    d = WIDTH
layers.append(nn.Linear(d, 2))
net = nn.Sequential(*layers)
opt = torch.optim.SGD(net.parameters(), lr=LR, momentum=0.9)
x, y = load(4000, 0)
xt, yt = load(1000, 1)
crit = nn.CrossEntropyLoss()
linears = [m for m in net if isinstance(m, nn.Linear)]
for ep in range(1, EPOCHS + 1):
    tot = 0.0
    for idx in torch.randperm(len(x)).split(BS):
        opt.zero_grad()
        loss = crit(net(x[idx]), y[idx])
        loss.backward()
        opt.step()
        tot += loss.item() * len(idx)
    with torch.no_grad():
        acc = (net(xt).argmax(1) == yt).float().mean().item()
    print(f"[{ep:02d}/{EPOCHS}] train {tot / len(x):.4f}  test acc {acc:.3f}")
    if ep % 5 == 1:
        print("   |grad| per layer:", " ".join(f"L{i}={m.weight.grad.norm():.1e}" for i, m in enumerate(linears)))
