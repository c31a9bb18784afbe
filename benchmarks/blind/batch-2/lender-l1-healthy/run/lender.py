import logging, torch
from torch import nn
logging.basicConfig(filename="lender.log", filemode="w", level=logging.DEBUG, format="%(levelname)s:%(name)s:%(message)s")
log = logging.getLogger("lender.fit")
cfg = dict(l.strip().split("=") for l in open("lender.cfg") if "=" in l)
torch.manual_seed(8); torch.set_num_threads(1)
n, d = 3000, 30
x = torch.randn(n, d)
s = x[:, :4].sum(1) + 1.5 * x[:, 4] * x[:, 5] + .8 * x[:, 6].abs() - .6
y = (torch.rand(n) < torch.sigmoid(2.2 * s)).float()
h = int(cfg["hidden"])
net = nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Linear(h, 1))
opt = torch.optim.Adam(net.parameters(), lr=float(cfg["lr"]))
lam = float(cfg["l1"])
bce = nn.BCEWithLogitsLoss()
tr, va = slice(0, 2400), slice(2400, n)
for ep in range(int(cfg["epochs"])):
    D = R = k = 0
    for b in torch.randperm(2400).split(int(cfg["batch"])):
        data = bce(net(x[b])[:, 0], y[b])
        pen = lam * sum(p.abs().sum() for p in net.parameters())
        loss = data + pen
        opt.zero_grad(); loss.backward(); opt.step()
        D += data.item(); R += pen.item(); k += 1
    with torch.no_grad():
        z = net(x[va])[:, 0]
        log.info("ep=%d total=%.4f bce=%.4f penalty=%.4f val_bce=%.4f val_acc=%.3f", ep, (D + R) / k, D / k, R / k, bce(z, y[va]).item(), ((z > 0) == (y[va] > .5)).float().mean().item())
