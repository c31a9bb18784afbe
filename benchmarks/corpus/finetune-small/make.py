import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(9)
W = torch.randn(24, 4)


def d(n, s=0.0):
    x = torch.randn(n, 24) + s
    return x, (x @ W + 0.25 * torch.randn(n, 4)).argmax(1)


net = nn.Sequential(nn.Linear(24, 128), nn.ReLU(), nn.Linear(128, 4))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for k in range(2500):
    x, y = d(128)
    l = F.cross_entropy(net(x), y)
    opt.zero_grad()
    l.backward()
    opt.step()
xt, yt = d(6000, 0.05)
xv, yv = d(1500, 0.05)
opt = torch.optim.AdamW(net.parameters(), lr=2e-5)
n, step = 3 * 94, 0
for ep in range(1, 4):
    for b in torch.randperm(6000).split(64):
        lr = 2e-5 * min(1, (step + 1) / 17) * (1 - step / n)
        opt.param_groups[0]["lr"] = lr
        l = F.cross_entropy(net(xt[b]), yt[b])
        opt.zero_grad()
        l.backward()
        gn = nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        opt.step()
        step += 1
        if step % 10 == 0:
            print(f"epoch={ep} step={step} loss={l.item():.4f} gnorm={gn:.3f} lr={lr:.2e}")
    with torch.no_grad():
        o = net(xv)
    print(f"epoch={ep} dev_loss={F.cross_entropy(o, yv):.4f} dev_f1={(o.argmax(1) == yv).float().mean():.4f}")
