import json
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(11)
cfg = json.load(open("prune.json"))
d = np.load("data/big.npz")
X, y = torch.tensor(d["X"]).flatten(1), torch.tensor(d["y"])
n = 6400
net = nn.Sequential(nn.Linear(144, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9, weight_decay=5e-4)
lin = [m for m in net if isinstance(m, nn.Linear)]
masks = [torch.ones_like(m.weight) for m in lin]


def ev():
    with torch.no_grad():
        o = net(X[n:])
    return F.cross_entropy(o, y[n:]).item(), (o.argmax(1) == y[n:]).float().mean().item()


for ep in range(cfg["epochs"]):
    if str(ep) in cfg["sparsity_at_epoch"]:
        sp = cfg["sparsity_at_epoch"][str(ep)]
        for i, m in enumerate(lin):
            k = int(sp * m.weight.numel())
            thr = m.weight.abs().flatten().kthvalue(k).values
            masks[i] = (m.weight.abs() > thr).float()
            m.weight.data *= masks[i]
        l, a = ev()
        print(f"[prune] epoch {ep}: target sparsity {sp:.2f} -> right after pruning val_loss {l:.4f} val_acc {a:.4f}")
    tl = []
    for b in torch.randperm(n).split(64):
        loss = F.cross_entropy(net(X[b]), y[b])
        opt.zero_grad(); loss.backward(); opt.step()
        for m, k in zip(lin, masks):
            m.weight.data *= k
        tl.append(loss.item())
    l, a = ev()
    print(f"epoch {ep:2d} train_loss {np.mean(tl):.4f} val_loss {l:.4f} val_acc {a:.4f} nonzero {sum(int(k.sum()) for k in masks)}")
