import os, sys, time
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
EPOCHS, LR, CKPT = 34, 0.12, "last.ckpt"
STOP_AFTER = int(os.environ.get("STOP_AFTER", EPOCHS))


def say(*a):
    print(time.strftime("%Y-%m-%d %H:%M:%S"), *a, flush=True)


def cells(n, seed, s=16):
    g = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:s, 0:s]
    k = g.integers(1, 7, n)
    img = 0.25 * g.normal(size=(n, s, s))
    for i in range(n):
        for _ in range(k[i]):
            cx, cy = g.uniform(2, s - 2, 2)
            img[i] += np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / 1.5)
    return torch.tensor(img[:, None], dtype=torch.float32), torch.tensor(k - 1)


xt, yt = cells(2000, 1)
xv, yv = cells(400, 2)
torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(96, 6))
opt = torch.optim.SGD(net.parameters(), lr=LR, momentum=0.9, weight_decay=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS)
start = 0
if os.path.exists(CKPT):
    ck = torch.load(CKPT)
    net.load_state_dict(ck["model"])
    start = ck["epoch"] + 1
    say(f"=> resumed from {CKPT} (epoch {ck['epoch']})")
say(f"count-cells | {sum(p.numel() for p in net.parameters())} params | epochs {EPOCHS}")
for ep in range(start, EPOCHS):
    net.train()
    tot = 0.0
    for i in torch.randperm(len(xt)).split(50):
        loss = F.cross_entropy(net(xt[i]), yt[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(i) / len(xt)
    lr = opt.param_groups[0]["lr"]
    sched.step()
    net.eval()
    with torch.no_grad():
        o = net(xv)
    say(f"epoch {ep:02d} lr {lr:.5f} train {tot:.4f} val {F.cross_entropy(o, yv).item():.4f} off_by {(o.argmax(1) - yv).abs().float().mean().item():.3f}")
    torch.save({"model": net.state_dict(), "epoch": ep}, CKPT)
    if ep + 1 == STOP_AFTER:
        say("SIGUSR1 received, 60 s left: checkpoint written, requeue")
        sys.exit(0)
say("finished")
