import argparse, torch, torch.nn as nn, torch.nn.functional as F
from features import tab
p = argparse.ArgumentParser()
p.add_argument("--bs", type=int, default=256)
p.add_argument("--lr", type=float, default=0.04)
p.add_argument("--steps", type=int, default=3000)
a = p.parse_args()
print(a)
torch.manual_seed(0)
X, Y = tab(20000, d=12, seed=1, reg=True, noise=.8)
Xv, Yv = tab(2000, d=12, seed=2, reg=True, noise=.8)
print(f"train {len(X)} val {len(Xv)} target var {Yv.var():.3f}")
net = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.SGD(net.parameters(), lr=a.lr, momentum=0.0)
for s in range(a.steps):
    i = torch.randint(0, len(X), (a.bs,))
    l = F.mse_loss(net(X[i]).squeeze(-1), Y[i])
    opt.zero_grad(); l.backward()
    g = nn.utils.clip_grad_norm_(net.parameters(), 1e9)
    opt.step()
    if s % 20 == 0: print(f"{s:5d} loss {l.item():8.4f} |g| {g:7.3f}")
    if s % 200 == 199:
        with torch.no_grad(): print(f"      val_mse {F.mse_loss(net(Xv).squeeze(-1), Yv).item():.4f}")
