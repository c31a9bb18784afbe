import os
import sys
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1 + int(os.path.exists("ckpt.pt")))
EPOCHS, PEAK = 16, 0.2
STOP = int(sys.argv[1]) if len(sys.argv) > 1 else EPOCHS
g = torch.Generator().manual_seed(5)
W1, W2 = torch.randn(30, 40, generator=g), torch.randn(40, 10, generator=g)
X = torch.randn(12000, 30, generator=g)
Y = (torch.tanh(X @ W1 / 12) @ W2).argmax(1)
net = nn.Sequential(nn.Linear(30, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
opt = torch.optim.SGD(net.parameters(), lr=PEAK, momentum=0.9)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS)
start = 0
if os.path.exists("ckpt.pt"):
    ck = torch.load("ckpt.pt")
    net.load_state_dict(ck["model"])
    start = ck["epoch"] + 1
    print(f"[resume] loaded ckpt.pt, continuing at epoch {start}", flush=True)
for epoch in range(start, STOP):
    tot = 0.0
    for i in torch.randperm(11000).split(100):
        loss = F.cross_entropy(net(X[i]), Y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() / 110
    with torch.no_grad():
        o = net(X[11000:])
    print(f"epoch {epoch:2d} lr {sched.get_last_lr()[0]:.5f} train {tot:.4f} val {F.cross_entropy(o, Y[11000:]).item():.4f} acc {(o.argmax(1) == Y[11000:]).float().mean().item():.4f}", flush=True)
    sched.step()
    torch.save({"model": net.state_dict(), "epoch": epoch}, "ckpt.pt")
