import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0); torch.set_num_threads(1)
d = np.load("data/plants8.npz")
f = lambda a: (torch.tensor(a).float() / 255 - 0.5) / 0.25
x, y, xv, yv = f(d["x_train"]), torch.tensor(d["y_train"]), f(d["x_val"]), torch.tensor(d["y_val"])
net = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 8))
opt = torch.optim.SGD(net.parameters(), lr=0.4, momentum=0.9, weight_decay=5e-4)
sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=4, T_mult=2, eta_min=1e-4)
EPOCHS = 28
for ep in range(EPOCHS):
    net.train(); tl = 0
    lr = opt.param_groups[0]["lr"]
    for k, i in enumerate(torch.randperm(len(x)).split(64)):
        loss = F.cross_entropy(net(x[i]), y[i])
        opt.zero_grad(); loss.backward(); opt.step()
        sched.step(ep + (k + 1) / 50)
        tl += loss.item() / 50
    net.eval()
    with torch.no_grad(): o = net(xv)
    print(f"ep {ep:02d} lr {lr:.4f} train {tl:.4f} val {F.cross_entropy(o, yv):.4f} acc {100 * (o.argmax(1) == yv).float().mean():.2f}")
