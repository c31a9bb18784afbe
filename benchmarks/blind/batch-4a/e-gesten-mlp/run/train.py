import csv, yaml, torch, torch.nn as nn, torch.nn.functional as F
torch.set_num_threads(1)
cfg = yaml.safe_load(open("gesture.yml")); torch.manual_seed(cfg["seed"])
g = torch.Generator().manual_seed(5)
P = torch.randn(6, 30, generator=g)


def data(n):
    y = torch.randint(0, 6, (n,), generator=g)
    return P[y] + 1.2 * torch.randn(n, 30, generator=g), y


X, Y = data(4000); XV, YV = data(1000)
act = {"sigmoid": nn.Sigmoid, "relu": nn.ReLU, "tanh": nn.Tanh}[cfg["activation"]]
dims = [30] + [cfg["width"]] * cfg["depth"]
lin = [nn.Linear(a, b) for a, b in zip(dims, dims[1:])] + [nn.Linear(cfg["width"], 6)]
for l in lin:
    nn.init.kaiming_normal_(l.weight); nn.init.zeros_(l.bias)
mods = []
for l in lin[:-1]:
    mods += [l, act()]
net = nn.Sequential(*mods, lin[-1])
opt = torch.optim.SGD(net.parameters(), lr=cfg["lr"], momentum=0.9)
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg["epochs"])
w = csv.writer(open("history.csv", "w"))
w.writerow(["ep", "tr_loss", "tr_acc", "va_loss", "va_acc"] + [f"gnorm_fc{i}" for i in range(len(lin))])
for ep in range(cfg["epochs"]):
    tot = cor = 0.0; gs = torch.zeros(len(lin))
    for i in torch.randperm(4000).split(50):
        o = net(X[i]); loss = F.cross_entropy(o, Y[i]); opt.zero_grad(); loss.backward()
        gs += torch.stack([l.weight.grad.norm() for l in lin]) / 80
        opt.step(); tot += loss.item() / 80; cor += (o.argmax(1) == Y[i]).sum().item() / 4000
    sch.step()
    with torch.no_grad(): o = net(XV)
    w.writerow([ep, f"{tot:.4f}", f"{cor:.4f}", f"{F.cross_entropy(o, YV):.4f}", f"{(o.argmax(1) == YV).float().mean():.4f}"] + [f"{v:.3e}" for v in gs.tolist()])
