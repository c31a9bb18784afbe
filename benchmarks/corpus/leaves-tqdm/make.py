import sys
import time
import torch
import torch.nn as nn

torch.manual_seed(8)
K, N = 4, 3000
proto = torch.randn(K, 1, 8, 8)


def leaves(n):
    y = torch.randint(K, (n,))
    return proto[y] + 0.9 * torch.randn(n, 1, 8, 8), y


xt, yt = leaves(N)
xv, yv = leaves(600)
yt = yt[torch.randperm(N)]
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.3), nn.Linear(36, K))
opt = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9)
for ep in range(12):
    net.train()
    batches = torch.randperm(N).split(60)
    t0, run = time.time(), 0.0
    for i, b in enumerate(batches, 1):
        loss = nn.functional.cross_entropy(net(xt[b]), yt[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        run += (loss.item() - run) / i
        if i % 5 == 0:
            dt = time.time() - t0
            bar = "#" * (i // 5) + " " * (10 - i // 5)
            sys.stdout.write(f"\rEpoch {ep}: {100 * i // 50:3d}%|{bar}| {i}/50 [00:{int(dt):02d}<00:00, {i / dt:.2f}it/s, loss={run:.3f}]")
    net.eval()
    with torch.no_grad():
        o = net(xv)
    sys.stdout.write(f"\nval: loss={nn.functional.cross_entropy(o, yv):.3f} acc={100 * (o.argmax(1) == yv).float().mean():.1f}%\n")
