import math
import torch
import torch.nn as nn

torch.manual_seed(0)
T = 100
betas = torch.linspace(1e-4, 0.05, T)
abar = torch.cumprod(1 - betas, 0)


def moons(n):
    t = math.pi * torch.rand(n)
    up = (torch.rand(n) > 0.5).float()
    x = torch.stack([up * torch.cos(t) + (1 - up) * (1 - torch.cos(t)), up * torch.sin(t) + (1 - up) * (0.5 - torch.sin(t))], 1)
    return (x + 0.05 * torch.randn(n, 2) - torch.tensor([0.5, 0.25])) / torch.tensor([0.87, 0.5])


class Eps(nn.Module):
    def __init__(self, h=128):
        super().__init__()
        self.emb = nn.Embedding(T, h)
        self.inp = nn.Linear(2, h)
        self.body = nn.Sequential(nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, 2))

    def forward(self, x, t):
        return self.body(self.inp(x) + self.emb(t))


net = Eps()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
ema = None
for step in range(1, 3001):
    x0 = moons(256)
    t = torch.randint(0, T, (256,))
    eps = torch.randn_like(x0)
    xt = abar[t].sqrt()[:, None] * x0 + (1 - abar[t]).sqrt()[:, None] * eps
    loss = (net(xt, t) - eps).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    ema = loss.item() if ema is None else 0.98 * ema + 0.02 * loss.item()
    if step % 50 == 0:
        print(f"step {step:5d} | loss {loss.item():.4f} | ema {ema:.4f}", flush=True)


@torch.no_grad()
def sample(n):
    x = torch.randn(n, 2)
    for i in reversed(range(T)):
        e = net(x, torch.full((n,), i))
        x = (x - betas[i] / (1 - abar[i]).sqrt() * e) / (1 - betas[i]).sqrt()
        if i:
            x = x + betas[i].sqrt() * torch.randn_like(x)
    return x


s, r = sample(2000), moons(2000)
d = torch.cdist(s, r).min(1).values
print(f"samples: mean {s.mean(0).tolist()} std {s.std(0).tolist()}")
print(f"median distance to nearest real point {d.median():.4f} (real to real {torch.cdist(moons(2000), r).min(1).values.median():.4f})")
