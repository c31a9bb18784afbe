import argparse, time, torch
from torch import nn
ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=12)
ap.add_argument("--lr", type=float, default=1e-3)
a = ap.parse_args()
torch.manual_seed(14); torch.set_num_threads(1)
D = 6


def showers(n):
    z = torch.randn(n, D)
    z[:, 1] = z[:, 0] ** 2 * .5 + .3 * z[:, 1]
    z[:, 3] = torch.sin(2 * z[:, 2]) + .15 * z[:, 3]
    z[:, 5] = z[:, 4] * z[:, 0] + .2 * z[:, 5]
    return z


class Coupling(nn.Module):
    def __init__(s, flip):
        super().__init__()
        s.flip = flip
        s.n = nn.Sequential(nn.Linear(3, 48), nn.SiLU(), nn.Linear(48, 48), nn.SiLU(), nn.Linear(48, 6))
        nn.init.zeros_(s.n[-1].weight); nn.init.zeros_(s.n[-1].bias)

    def forward(s, x):
        p, q = (x[:, ::2], x[:, 1::2]) if s.flip else (x[:, 1::2], x[:, ::2])
        k, t = s.n(p).chunk(2, 1)
        k = 2 * torch.tanh(k)
        q = q * k.exp() + t
        return torch.stack([p, q] if s.flip else [q, p], -1).flatten(1), k.sum(1)


flow = nn.ModuleList(Coupling(i % 2 == 0) for i in range(6))


def nll(x):
    ld = 0
    for f in flow:
        x, l = f(x)
        ld = ld + l
    return (.5 * x ** 2 + .9189).sum(1).mean() - ld.mean()


xt, xv = showers(2560), showers(1000)
opt = torch.optim.Adam(flow.parameters(), lr=a.lr)
print("args:", vars(a))
for ep in range(1, a.epochs + 1):
    t0, tot = time.time(), 0
    for b in torch.randperm(len(xt)).split(256):
        loss = nll(xt[b]); opt.zero_grad(); loss.backward(); opt.step(); tot += loss.item() / 10
    with torch.no_grad():
        v = nll(xv).item()
    print(f"epoch {ep:>3}/{a.epochs} :: nll={tot:.4f} val_nll={v:.4f} ({time.time() - t0:.2f}s)", flush=True)
print("saved flow.pt")
