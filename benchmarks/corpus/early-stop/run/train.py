import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(33)
PATIENCE = 5
proto = torch.randn(5, 40) * 0.45


def sample(n):
    y = torch.randint(5, (n,))
    return proto[y] + torch.randn(n, 40), y


xt, yt = sample(1200)
xv, yv = sample(1500)
net = nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 5))
opt = torch.optim.Adam(net.parameters(), lr=1.5e-3)
best, best_ep, best_state = 1e9, 0, None
for ep in range(1, 101):
    net.train()
    tot = 0.0
    for b in torch.randperm(len(xt)).split(40):
        loss = F.cross_entropy(net(xt[b]), yt[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(b) / len(xt)
    net.eval()
    with torch.no_grad():
        o = net(xv)
    v = F.cross_entropy(o, yv).item()
    print(f"epoch {ep} train_loss {tot:.4f} val_loss {v:.4f} val_acc {(o.argmax(1) == yv).float().mean():.4f}{'  *' if v < best else ''}")
    if v < best:
        best, best_ep, best_state = v, ep, copy.deepcopy(net.state_dict())
    elif ep - best_ep >= PATIENCE:
        print(f"Epoch {ep}: early stopping. Restoring model weights from the end of the best epoch: {best_ep}.")
        net.load_state_dict(best_state)
        break
with torch.no_grad():
    o = net(xv)
print(f"final (restored) val_loss {F.cross_entropy(o, yv):.4f} val_acc {(o.argmax(1) == yv).float().mean():.4f}")
