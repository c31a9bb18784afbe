import csv, yaml, torch, torch.nn as nn, torch.nn.functional as F
cfg = yaml.safe_load(open("conf.yaml"))
torch.manual_seed(cfg["seed"])


def moons(n, seed):
    """five interleaved spiral arms, two coordinates"""
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(5, (n,), generator=g)
    r = torch.rand(n, generator=g)
    a = y * 1.2566 + 5.0 * r + 0.10 * torch.randn(n, generator=g)
    return torch.stack([r * a.cos(), r * a.sin()], 1) * 2, y


x, y = moons(5000, 1)
xv, yv = moons(1000, 2)
h = cfg["model"]["hidden"]
net = nn.Sequential(nn.Linear(2, h), nn.Tanh(), nn.Linear(h, 5))
opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"])
w = csv.writer(open("history.csv", "w", newline=""))
w.writerow(["epoch", "train_loss", "train_acc", "val_loss", "val_acc"])
for epoch in range(cfg["epochs"]):
    tot = hit = 0
    for i in torch.randperm(len(x)).split(cfg["batch_size"]):
        o = net(x[i])
        loss = F.cross_entropy(o, y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(i)
        hit += (o.argmax(1) == y[i]).sum().item()
    with torch.no_grad():
        o = net(xv)
    w.writerow([epoch, round(tot / len(x), 4), round(hit / len(x), 4), round(F.cross_entropy(o, yv).item(), 4), round((o.argmax(1) == yv).float().mean().item(), 4)])
