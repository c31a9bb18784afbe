import csv
import torch
import torch.nn as nn
import torch.nn.functional as F
from data import keywords

torch.set_num_threads(1)
torch.manual_seed(0)
K, MARGIN = 10, 0.6
x, y = keywords(40000, K=K, seed=1, noise=2.4)
xv, yv = keywords(1200, K=K, seed=2, noise=2.4)
by_class = [torch.nonzero(y == k).flatten() for k in range(K)]
net = nn.Sequential(nn.Flatten(), nn.Linear(320, 128), nn.ReLU(), nn.Linear(128, 32))


def embed(t):
    return F.normalize(net(t), dim=1)


def dist(a, b):
    return torch.sqrt(((a - b) ** 2).sum(1))


def draw(n):
    k = torch.randint(K, (n,))
    o = (k + torch.randint(1, K, (n,))) % K
    pick = lambda c: torch.stack([by_class[j][torch.randint(len(by_class[j]), ())] for j in c.tolist()])
    return pick(k), pick(k), pick(o)


opt = torch.optim.Adam(net.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 1200)
w = csv.writer(open("triplet.csv", "w"), lineterminator="\n")
w.writerow(["step", "triplet", "pos_dist", "neg_dist", "recall1"])
for step in range(1200):
    a, p, n = draw(24)
    ea, ep, en = embed(x[a]), embed(x[p]), embed(x[n])
    dp, dn = dist(ea, ep), dist(ea, en)
    loss = F.relu(dp - dn + MARGIN).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    opt.step()
    sched.step()
    if step % 20 == 0 or step == 1199:
        r = ""
        if step % 100 == 0 or step == 1199:
            with torch.no_grad():
                e = embed(xv)
                s = e @ e.T - 9 * torch.eye(len(e))
                r = round((yv[s.argmax(1)] == yv).float().mean().item(), 4)
        w.writerow([step, round(loss.item(), 5), round(dp.mean().item(), 4), round(dn.mean().item(), 4), r])
