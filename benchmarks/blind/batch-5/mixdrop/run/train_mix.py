import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(9)
d = np.load("data/glyphs_small.npz")
X, y = torch.tensor(d["X"])[:, None], torch.tensor(d["y"])
tr, va = torch.arange(1300), torch.arange(1300, 1600)
net = nn.Sequential(nn.Conv2d(1, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout2d(0.3),
                    nn.Conv2d(24, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Dropout(0.5), nn.Linear(432, 10))
opt = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.02)
EPOCHS = 22
sch = torch.optim.lr_scheduler.OneCycleLR(opt, 3e-3, total_steps=EPOCHS * 21)
beta = torch.distributions.Beta(0.8, 0.8)
for ep in range(1, EPOCHS + 1):
    net.train()
    tl, ta = [], []
    for b in tr[torch.randperm(1300)].split(64):
        lam = beta.sample()
        p = torch.randperm(len(b))
        out = net(lam * X[b] + (1 - lam) * X[b][p])
        loss = lam * F.cross_entropy(out, y[b], label_smoothing=0.1) + (1 - lam) * F.cross_entropy(out, y[b][p], label_smoothing=0.1)
        opt.zero_grad(); loss.backward(); opt.step(); sch.step()
        tl.append(loss.item()); ta.append((out.argmax(1) == y[b]).float().mean().item())
    net.eval()
    with torch.no_grad():
        o = net(X[va])
    print(f"Epoch {ep}/{EPOCHS}  train: loss {np.mean(tl):.4f} acc {np.mean(ta):.4f}   val: loss {F.cross_entropy(o, y[va]).item():.4f} acc {(o.argmax(1) == y[va]).float().mean().item():.4f}")
