# bitirme projesi - bitki siniflandirma
import math, yaml
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F

cfg = yaml.safe_load(open("ayar.yaml"))
torch.manual_seed(cfg["seed"])
torch.set_num_threads(1)
d = np.load("data/plants8.npz")
hazirla = lambda a: (torch.tensor(a).float() / 255 - 0.5) / 0.25
x, y, xv, yv = hazirla(d["x_train"]), torch.tensor(d["y_train"]), hazirla(d["x_val"]), torch.tensor(d["y_val"])


class Blok(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b = nn.Conv2d(c, c, 3, 1, 1), nn.Conv2d(c, c, 3, 1, 1)

    def forward(self, t):
        return t + self.b(torch.relu(self.a(t)))


ag = nn.Sequential(nn.Conv2d(3, 16, 4, 4), Blok(16), Blok(16), Blok(16), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 8))
for m in ag.modules():
    if isinstance(m, nn.Conv2d):
        nn.init.kaiming_normal_(m.weight)
opt = torch.optim.SGD(ag.parameters(), lr=cfg["lr"], momentum=0.9)
toplam = cfg["epoch"] * 50
adim = 0
for ep in range(cfg["epoch"]):
    kayip = 0
    for i in torch.randperm(len(x)).split(64):
        isinma = min(1.0, (adim + 1) / cfg["warmup_adim"]) if cfg["warmup_adim"] else 1.0
        for g in opt.param_groups:
            g["lr"] = cfg["lr"] * isinma * 0.5 * (1 + math.cos(math.pi * adim / toplam))
        loss = F.cross_entropy(ag(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        gn = torch.stack([p.grad.norm() for p in ag.parameters()]).norm()
        opt.step()
        kayip += loss.item() / 50
        if adim % 10 == 0 and adim < 100:
            print(f"adim {adim} kayip {loss.item():.4f} grad {gn:.3f} lr {g['lr']:.5f}")
        adim += 1
    with torch.no_grad():
        o = ag(xv)
    print(f"epoch {ep + 1}/{cfg['epoch']} lr {g['lr']:.5f} egitim_kaybi {kayip:.4f} dogrulama_kaybi {F.cross_entropy(o, yv):.4f} dogruluk {(o.argmax(1) == yv).float().mean():.4f}")
