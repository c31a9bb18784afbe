import csv, yaml, torch, torch.nn as nn, torch.nn.functional as F
from data import tabular

torch.set_num_threads(1)
cfg = yaml.safe_load(open("conf.yaml"))
torch.manual_seed(cfg["seed"])
xt, yt = tabular(20000, seed=1)
xv, yv = tabular(3000, seed=2)
h = cfg["hidden_units"]
net = nn.Sequential(nn.Linear(12, h), nn.Tanh(), nn.Linear(h, 1))
opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"])
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg["epochs"])
w = csv.writer(open("resultats.csv", "w"))
w.writerow(["epoque", "perte_train", "perte_valid", "r2_valid", "taux"])
for e in range(cfg["epochs"]):
    tot = 0.0
    for i in torch.randperm(len(xt)).split(cfg["batch"]):
        loss = F.mse_loss(net(xt[i]).squeeze(1), yt[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(i)
    with torch.no_grad():
        v = F.mse_loss(net(xv).squeeze(1), yv)
    w.writerow([e + 1, f"{tot / len(xt):.5f}", f"{v:.5f}", f"{1 - v / yv.var():.4f}", f"{opt.param_groups[0]['lr']:.2e}"])
    sched.step()
