# CS 482 HW3 part b: "deeper is better?"
import numpy as np, torch, torch.nn as nn
torch.manual_seed(482)
d = np.load("data/kws_mfcc.npz")
Xtr, ytr, Xte, yte = [torch.tensor(d[k]) for k in ("x", "y", "xv", "yv")]
Xtr, Xte = Xtr.mean(1, keepdim=True).expand(-1, 1, -1).flatten(1), Xte.mean(1, keepdim=True).flatten(1)
mu, sd = Xtr.mean(0), Xtr.std(0)
Xtr, Xte = (Xtr - mu) / sd, (Xte - mu) / sd

sizes = [13] + [40] * 7 + [10]
layers = []
for a, b in zip(sizes[:-1], sizes[1:]):
    layers += [nn.Linear(a, b), nn.ReLU()]
net = nn.Sequential(*layers[:-1])
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
crit = nn.CrossEntropyLoss()
sch = torch.optim.lr_scheduler.StepLR(opt, 12, 0.2)
for epoch in range(1, 26):
    tot, hit = 0, 0
    for i in torch.randperm(len(Xtr)).split(40):
        out = net(Xtr[i])
        loss = crit(out, ytr[i])
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item() * len(i); hit += (out.argmax(1) == ytr[i]).sum().item()
    g = [l.weight.grad.norm().item() for l in net if isinstance(l, nn.Linear)]
    with torch.no_grad():
        o = net(Xte)
    print(f"Epoch {epoch:2d} | train loss {tot/len(Xtr):.4f} acc {hit/len(Xtr):.3f} | test loss {crit(o, yte):.4f} acc {(o.argmax(1)==yte).float().mean():.3f}")
    if epoch % 5 == 1:
        print("   |grad| per layer:", " ".join("%.1e" % v for v in g))
    sch.step()
