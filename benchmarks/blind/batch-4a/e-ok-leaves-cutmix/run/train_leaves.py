import torch, torch.nn as nn, torch.nn.functional as F
torch.set_num_threads(1)
torch.manual_seed(18)
EPOCHS = 30
P = torch.randn(15, 3, 10, 10)


def leaves(n):
    y = torch.randint(0, 15, (n,))
    return P[y] + 1.5 * torch.randn(n, 3, 10, 10), y


def cutout_mixup(x, y):
    x = x.clone(); x[:, :, 2:6, 3:8] = 0
    lam, j = 0.7, torch.randperm(len(y))
    return lam * x + (1 - lam) * x[j], y, y[j], lam


net = nn.Sequential(nn.Conv2d(3, 24, 3), nn.BatchNorm2d(24), nn.ReLU(), nn.Conv2d(24, 24, 3), nn.BatchNorm2d(24), nn.ReLU(), nn.Flatten(), nn.Dropout(0.5), nn.Linear(24 * 36, 15))
opt = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=0.02)
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS)
X, Y = leaves(3000); XV, YV = leaves(1000)
for ep in range(EPOCHS):
    net.train(); tl = ta = 0.0
    for i in torch.randperm(3000).split(60):
        x, a, b, lam = cutout_mixup(X[i], Y[i])
        o = net(x)
        loss = lam * F.cross_entropy(o, a, label_smoothing=0.1) + (1 - lam) * F.cross_entropy(o, b, label_smoothing=0.1)
        opt.zero_grad(); loss.backward(); opt.step()
        tl += loss.item() / 50; ta += (o.argmax(1) == a).float().mean().item() / 50
    sch.step(); net.eval()
    with torch.no_grad():
        o = net(XV)
    print(f"| {ep:3d} | train_loss {tl:.3f} | train_top1 {100 * ta:5.1f} | val_loss {F.cross_entropy(o, YV):.3f} | val_top1 {100 * (o.argmax(1) == YV).float().mean():5.1f} |")
