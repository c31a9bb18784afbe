import csv, torch, torch.nn as nn, torch.nn.functional as F
from features import tab
torch.manual_seed(0)
X, Y = tab(8000, d=30, k=2, seed=1, noise=.2); Xv, Yv = tab(2000, d=30, k=2, seed=2, noise=.2)
net = nn.Sequential(nn.Dropout(0.15), nn.Linear(30, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 2))
opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)
sch = torch.optim.lr_scheduler.StepLR(opt, 10, 0.3)
w = csv.writer(open("training.csv", "w", newline="")); w.writerow(["epoch", "accuracy", "loss", "val_accuracy", "val_loss"])
for ep in range(30):
    net.train(); t = c = 0
    for i in torch.randperm(8000).split(64):
        o = net(X[i]); l = F.cross_entropy(o, Y[i])
        opt.zero_grad(); l.backward(); opt.step()
        t += l.item() * len(i) / 8000; c += (o.argmax(1) == Y[i]).sum().item() / 8000
    net.eval()
    with torch.no_grad(): o = net(Xv)
    w.writerow([ep, c, t, (o.argmax(1) == Yv).float().mean().item(), F.cross_entropy(o, Yv).item()])
    sch.step()
