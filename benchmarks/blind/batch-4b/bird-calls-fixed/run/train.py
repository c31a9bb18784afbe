import argparse, json
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F

ap = argparse.ArgumentParser()
ap.add_argument("--batch_size", type=int, default=64)
ap.add_argument("--lr", type=float, default=0.06)
ap.add_argument("--iters", type=int, default=1500)
args = ap.parse_args()
torch.manual_seed(0)
d = np.load("data/kws_mfcc.npz")
x, y, xv, yv = (torch.tensor(d[k]) for k in ("x", "y", "xv", "yv"))
x, xv = x.transpose(1, 2) + 2.5 * torch.randn(len(x), 13, 48), xv.transpose(1, 2) + 2.5 * torch.randn(len(xv), 13, 48)
x, xv = x / 3, xv / 3
net = nn.Sequential(nn.Conv1d(13, 32, 5), nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(32, 32, 5), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 18, 10))
opt = torch.optim.SGD(net.parameters(), lr=args.lr)
print(json.dumps(vars(args)))
tot = []
for it in range(1, args.iters + 1):
    i = torch.randint(len(x), (args.batch_size,))
    loss = F.cross_entropy(net(x[i]), y[i])
    opt.zero_grad()
    loss.backward()
    g = torch.stack([p.grad.norm() for p in net.parameters()]).norm().item()
    opt.step()
    tot.append(loss.item())
    if it % (args.iters // 60) == 0:
        with torch.no_grad():
            o = net(xv)
        print(json.dumps({"iter": it, "loss": round(tot[-1], 4), "loss_std": round(float(np.std(tot)), 3), "loss_avg": round(float(np.mean(tot)), 4), "grad_norm": round(g, 2), "val_loss": round(F.cross_entropy(o, yv).item(), 4), "val_acc": round((o.argmax(1) == yv).float().mean().item(), 4)}))
        tot = []
