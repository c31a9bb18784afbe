import json, sys
import torch
import torch.nn as nn
import torch.nn.functional as F
from data import keywords

torch.set_num_threads(1)
torch.manual_seed(11)


def load(n, seed):
    x, y = keywords(n, K=10, seed=seed, noise=1.8)
    x = x * 3 + 7
    x[torch.rand(n, generator=torch.Generator().manual_seed(seed)) < 8e-5] = 0.0
    return x, y


def cmvn(x):
    """per-utterance mean/variance normalisation"""
    m = x.mean((1, 2), keepdim=True)
    s = x.std((1, 2), keepdim=True)
    return (x - m) / (s + 1e-5)


class TDNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv1d(16, 48, 5, padding=2)
        self.c2 = nn.Conv1d(48, 48, 3, padding=2, dilation=2)
        self.o = nn.Linear(96, 10)

    def forward(self, x):
        h = F.relu(self.c2(F.relu(self.c1(cmvn(x).transpose(1, 2)))))
        return self.o(torch.cat([h.mean(2), h.amax(2)], 1))


xt, yt = load(24000, 1)
xv, yv = load(1000, 9)
net = TDNN()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.02, total_iters=900)
for step in range(900):
    i = torch.randint(len(xt), (48,))
    loss = F.cross_entropy(net(xt[i]), yt[i])
    opt.zero_grad()
    loss.backward()
    gn = nn.utils.clip_grad_norm_(net.parameters(), 2.0)
    opt.step()
    sched.step()
    if step % 10 == 0:
        rec = {"step": step, "loss": round(loss.item(), 4), "gnorm": round(gn.item(), 3)}
        if step % 100 == 0:
            with torch.no_grad():
                o = net(xv)
            rec["val_loss"], rec["val_acc"] = round(F.cross_entropy(o, yv).item(), 4), round((o.argmax(1) == yv).float().mean().item(), 4)
        print(json.dumps(rec))
