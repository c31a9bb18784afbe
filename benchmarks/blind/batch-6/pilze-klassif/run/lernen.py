import csv, torch, torch.nn as nn, torch.nn.functional as F, yaml
from mydata import img
k = yaml.safe_load(open("einstellungen.yml"))
torch.manual_seed(k["zufall"])
X, Y = img(2500, k=8, noise=2.2, seed=3); Xp, Yp = img(700, k=8, noise=2.2, seed=4)
netz = nn.Sequential(nn.Flatten(), nn.Linear(100, 64), nn.ReLU(), nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 8))
opt = torch.optim.SGD(netz.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3)
w = csv.writer(open("verlauf.csv", "w", newline=""), delimiter=";")
w.writerow(["epoche", "lernrate", "verlust", "genauigkeit", "pruef_verlust", "pruef_genauigkeit"])
lr = 0.0
for ep in range(1, k["epochen"] + 1):
    lr = k["lernraten"].get(ep, lr)
    for g in opt.param_groups: g["lr"] = lr
    s = c = 0.0
    for i in torch.randperm(2500).split(k["stapel"]):
        o = netz(X[i]); l = F.cross_entropy(o, Y[i])
        opt.zero_grad(); l.backward(); opt.step()
        s += l.item() * len(i) / 2500; c += (o.argmax(1) == Y[i]).sum().item() / 2500
    with torch.no_grad(): o = netz(Xp)
    w.writerow([ep, lr] + [f"{v:.4f}".replace(".", ",") for v in (s, c, F.cross_entropy(o, Yp).item(), (o.argmax(1) == Yp).float().mean().item())])
