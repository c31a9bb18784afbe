import logging, math, sys, yaml
import torch, torch.nn as nn, torch.nn.functional as F
torch.set_num_threads(1)
logging.basicConfig(stream=sys.stdout, format="[%(asctime)s][%(name)s][%(levelname)s] - %(message)s", level=logging.INFO)
log = logging.getLogger("__main__")
cfg = yaml.safe_load(open(".hydra/config.yaml"))
torch.manual_seed(cfg["seed"])


def spirale(n):
    y = torch.randint(0, 4, (n,))
    r = torch.rand(n) * 2.5 + 0.3
    th = 1.6 * r + y * math.pi / 2 + 0.12 * torch.randn(n)
    return torch.stack([r * torch.cos(th), r * torch.sin(th)], 1), y


X, Y = spirale(6000); XV, YV = spirale(1500)
h = cfg["modell"]["breite"]
netz = nn.Sequential(nn.Linear(2, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, 4))
log.info("Parameter: %d", sum(p.numel() for p in netz.parameters()))
opt = torch.optim.Adam(netz.parameters(), lr=cfg["optim"]["lr"])
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg["epochen"])
for ep in range(1, cfg["epochen"] + 1):
    s = k = 0.0
    for i in torch.randperm(6000).split(100):
        o = netz(X[i]); l = F.cross_entropy(o, Y[i])
        opt.zero_grad(); l.backward(); opt.step()
        s += l.item() / 60; k += (o.argmax(1) == Y[i]).float().mean().item() / 60
    sch.step()
    with torch.no_grad(): o = netz(XV)
    log.info("Epoche %d: Verlust %.4f, Genauigkeit %.3f | Validierung: Verlust %.4f, Genauigkeit %.3f", ep, s, k, F.cross_entropy(o, YV), (o.argmax(1) == YV).float().mean())
