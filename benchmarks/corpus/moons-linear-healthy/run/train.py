import math
import torch
import torch.nn.functional as F
import yaml
from model import make_model

cfg = yaml.safe_load(open("config.yaml"))
torch.manual_seed(0)


def spirals(n):
    y = torch.randint(3, (n,))
    r = torch.rand(n) * 2 + 0.2
    a = 2.5 * r + y * 2 * math.pi / 3 + 0.1 * torch.randn(n)
    return torch.stack([r * a.cos(), r * a.sin()], 1), y


xt, yt = spirals(3000)
xv, yv = spirals(1000)
model = make_model(cfg["hidden"])
opt = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
for ep in range(1, cfg["epochs"] + 1):
    tl = ta = 0.0
    for b in torch.randperm(len(xt)).split(cfg["batch_size"]):
        o = model(xt[b])
        loss = F.cross_entropy(o, yt[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tl += loss.item() * len(b) / len(xt)
        ta += (o.argmax(1) == yt[b]).sum().item() / len(xt)
    with torch.no_grad():
        o = model(xv)
    print(f"{ep:>3}/{cfg['epochs']}  tr_loss {tl:.4f}  tr_acc {ta:.4f}  va_loss {F.cross_entropy(o, yv):.4f}  va_acc {(o.argmax(1) == yv).float().mean():.4f}")
torch.save({"model": model.state_dict(), "optimizer": opt.state_dict(), "epoch": ep}, "checkpoint.pth")
