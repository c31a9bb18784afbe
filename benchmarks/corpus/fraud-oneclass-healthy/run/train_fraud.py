import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(15)
POS_RATE = 0.02
POS_WEIGHT = 49.0


def tx(n):
    y = (torch.rand(n) < POS_RATE).float()
    x = torch.randn(n, 20)
    x[:, :4] += 1.1 * y[:, None]
    return x, y


xt, yt = tx(20000)
xv, yv = tx(10000)
net = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=5e-4, weight_decay=1e-3)
pw = None if POS_WEIGHT is None else torch.tensor(POS_WEIGHT)
for ep in range(1, 13):
    net.train()
    s = 0.0
    for b in torch.randperm(len(xt)).split(256):
        loss = F.binary_cross_entropy_with_logits(net(xt[b]).squeeze(1), yt[b], pos_weight=pw)
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item() * len(b) / len(xt)
    net.eval()
    with torch.no_grad():
        p = net(xv).squeeze(1) > 0
    tp, fp, fn, tn = (p & (yv > 0)).sum().item(), (p & (yv == 0)).sum().item(), (~p & (yv > 0)).sum().item(), (~p & (yv == 0)).sum().item()
    print(f"epoch {ep:2d} loss {s:.4f} acc {(tp + tn) / len(yv):.4f} recall {tp / (tp + fn):.4f} precision {tp / max(1, tp + fp):.4f} | confusion [[{tn} {fp}] [{fn} {tp}]]")
