import os
import torch
import torch.nn as nn
import torch.nn.functional as F

EPOCHS, CKPT = 20, "last.pt"
torch.manual_seed(0)
g = torch.Generator().manual_seed(1)
proto = torch.randn(15, 1, 12, 12, generator=g)


def make(n):
    y = torch.randint(15, (n,), generator=g)
    return 0.3 * proto[y] + 0.7 * torch.randn(n, 1, 12, 12, generator=g), y


x, y = make(3000)
xv, yv = make(600)
net = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(1024, 15))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
sched = torch.optim.lr_scheduler.MultiStepLR(opt, [4, 8], gamma=0.1)
start = 0
if os.path.exists(CKPT):
    ck = torch.load(CKPT)
    net.load_state_dict(ck["net"])
    start = ck["epoch"] + 1
    print(f"=> resumed from {CKPT} (epoch {ck['epoch']})")
for epoch in range(start, EPOCHS):
    total = 0.0
    for idx in torch.randperm(len(x)).split(50):
        loss = F.cross_entropy(net(x[idx] + 0.8 * torch.randn_like(x[idx])), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx) / len(x)
    lr = sched.get_last_lr()[0]
    sched.step()
    with torch.no_grad():
        o = net(xv)
    print(f"epoch {epoch:2d}  lr {lr:.4g}  train {total:.4f}  val {F.cross_entropy(o, yv).item():.4f}  acc {(o.argmax(1) == yv).float().mean().item():.3f}", flush=True)
    torch.save({"net": net.state_dict(), "epoch": epoch}, CKPT)
