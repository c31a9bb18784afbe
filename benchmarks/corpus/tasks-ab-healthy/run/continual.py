import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(6)
REPLAY = 0.3
protoA, protoB = torch.randn(5, 30), torch.randn(5, 30)
def task(proto, n):
    y = torch.randint(5, (n,)); return proto[y] + 1.0 * torch.randn(n, 30), y
net = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 5))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
evA, evB = task(protoA, 1000), task(protoB, 1000)
acc = lambda ev: (net(ev[0]).argmax(1) == ev[1]).float().mean().item()
for step in range(1200):
    phase = 'A' if step < 500 else 'B'
    x, y = task(protoA if phase == 'A' else protoB, 64)
    if phase == 'B' and REPLAY > 0:
        k = int(64 * REPLAY); xr, yr = task(protoA, k); x, y = torch.cat([x[k:], xr]), torch.cat([y[k:], yr])
    loss = F.cross_entropy(net(x), y); opt.zero_grad(); loss.backward(); opt.step()
    if step % 20 == 0:
        with torch.no_grad(): print(f'[{step:4d}] phase={phase} loss={loss.item():.4f} acc_A={acc(evA):.3f} acc_B={acc(evB):.3f}')
