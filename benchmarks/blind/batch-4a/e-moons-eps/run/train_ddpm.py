import json, math, bisect, yaml
import torch, torch.nn as nn, torch.nn.functional as F
torch.set_num_threads(1)
cfg = yaml.safe_load(open("conf/moons.yaml"))
torch.manual_seed(cfg["seed"])
T = 100
beta = torch.linspace(1e-4, 0.06, T); ab = torch.cumprod(1 - beta, 0)


def moons(n):
    t = math.pi * torch.rand(n); s = (torch.rand(n) < 0.5).float()
    x = torch.stack([torch.cos(t) * (1 - 2 * s) + s, torch.sin(t) * (1 - 2 * s) + 0.5 * s], 1)
    return (x + 0.05 * torch.randn(n, 2) - torch.tensor([0.5, 0.25])) * 1.5


class Eps(nn.Module):
    def __init__(self, h=128):
        super().__init__()
        self.te = nn.Embedding(T, 32)
        self.f = nn.Sequential(nn.Linear(34, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, 2))

    def forward(self, x, t):
        return self.f(torch.cat([x, self.te(t)], 1))


net = Eps()
opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"]["values"][0])
out = open("metrics.jsonl", "w")
acc = n = 0
gen = torch.Generator().manual_seed(99)
for step in range(1, cfg["steps"] + 1):
    lr = cfg["lr"]["values"][bisect.bisect_right(cfg["lr"]["boundaries"], step)]
    for g in opt.param_groups:
        g["lr"] = lr
    x = moons(cfg["batch"]); t = torch.randint(0, T, (len(x),)); e = torch.randn_like(x)
    xt = ab[t].sqrt()[:, None] * x + (1 - ab[t]).sqrt()[:, None] * e
    loss = F.mse_loss(net(xt, t), e)
    opt.zero_grad(); loss.backward(); opt.step()
    acc += loss.item(); n += 1
    if step % 50 == 0:
        r = {"step": step, "eps_mse": round(acc / n, 5), "lr": lr}
        if step % 250 == 0:
            xs = moons(4096); t = torch.randint(0, T, (4096,), generator=gen); e = torch.randn(4096, 2, generator=gen)
            with torch.no_grad():
                r["val_eps_mse"] = round(F.mse_loss(net(ab[t].sqrt()[:, None] * xs + (1 - ab[t]).sqrt()[:, None] * e, t), e).item(), 5)
        out.write(json.dumps(r) + "\n"); acc = n = 0
