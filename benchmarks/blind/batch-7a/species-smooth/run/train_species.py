import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
C = 20
proto = 1.2 * torch.randn(C, 40)


def batch(n):
    y = torch.randint(0, C, (n,))
    return proto[y] + 1.5 * torch.randn(n, 40), y


net = nn.Sequential(nn.Linear(40, 128), nn.ReLU(), nn.Linear(128, C))
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.01)
crit = nn.CrossEntropyLoss(label_smoothing=0.2)
xv, yv = batch(2000)
for epoch in range(1, 21):
    s = 0.0
    for _ in range(60):
        x, y = batch(64)
        loss = crit(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item() / 60
    with torch.no_grad():
        o = net(xv)
    print(f"Epoch {epoch:02d} train_loss: {s:.3f} val_loss: {crit(o, yv).item():.3f} top1: {100 * (o.argmax(1) == yv).float().mean().item():.2f}")
