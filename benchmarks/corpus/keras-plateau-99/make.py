import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
P = torch.randn(6, 25) * 1.0
def d(n):
    y = torch.randint(6, (n,)); return P[y] + 1.0 * torch.randn(n, 25), y
xt, yt = d(6000); xv, yv = d(1500)
net = nn.Sequential(nn.Linear(25, 32), nn.ReLU(), nn.Linear(32, 6))
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=2e-3)
for e in range(1, 31):
    s = h = 0.0
    for b in torch.randperm(6000).split(64):
        o = net(xt[b]); l = F.cross_entropy(o, yt[b]); opt.zero_grad(); l.backward(); opt.step()
        s += l.item() * len(b) / 6000; h += (o.argmax(1) == yt[b]).sum().item() / 6000
    with torch.no_grad(): o = net(xv)
    print(f"Epoch {e}/30\n94/94 - 1s - loss: {s:.4f} - acc: {h:.4f} - val_loss: {F.cross_entropy(o, yv):.4f} - val_acc: {(o.argmax(1) == yv).float().mean():.4f} - 612ms/epoch - 7ms/step")
