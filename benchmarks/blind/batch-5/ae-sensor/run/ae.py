import configparser
import numpy as np, torch, torch.nn as nn

ini = configparser.ConfigParser(); ini.read("settings.ini")
torch.manual_seed(12)
rng = np.random.default_rng(5)
# 24 vibration channels driven by 5 hidden sources
S = rng.normal(size=(4000, 5)); A = rng.normal(size=(5, 24))
X = torch.tensor(np.tanh(S @ A * 0.5) + 0.05 * rng.normal(size=(4000, 24)), dtype=torch.float32)
X = (X - X.mean(0)) / X.std(0)
tr, va = X[:3400], X[3400:]
H, K = ini.getint("model", "hidden"), ini.getint("model", "bottleneck")
enc = nn.Sequential(nn.Linear(24, H), nn.Tanh(), nn.Linear(H, K))
dec = nn.Sequential(nn.Linear(K, H), nn.Tanh(), nn.Linear(H, 24))
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=ini.getfloat("train", "lr"))
sch = torch.optim.lr_scheduler.ExponentialLR(opt, 0.9)
lam = ini.getfloat("loss", "l1_code")
print("epoch |   total |   recon |      l1 | |code| | val_recon")
for e in range(1, ini.getint("train", "epochs") + 1):
    acc = np.zeros(4); n = 0
    for b in torch.randperm(len(tr)).split(ini.getint("train", "batch")):
        z = enc(tr[b])
        recon = (dec(z) - tr[b]).pow(2).mean()
        l1 = lam * z.abs().mean()
        loss = recon + l1
        opt.zero_grad(); loss.backward(); opt.step()
        acc += [loss.item(), recon.item(), l1.item(), z.abs().mean().item()]; n += 1
    sch.step()
    with torch.no_grad():
        v = (dec(enc(va)) - va).pow(2).mean().item()
    a = acc / n
    print(f"{e:5d} | {a[0]:7.4f} | {a[1]:7.4f} | {a[2]:7.4f} | {a[3]:6.4f} | {v:.4f}")
