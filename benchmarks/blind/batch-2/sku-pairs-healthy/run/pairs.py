# InfoNCE on two views of a product vector
import csv, torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(23); torch.set_num_threads(1)
EPOCHS, BS, TEMP = 60, 64, 0.2
proto = torch.randn(400, 20)
mixA, mixB = torch.randn(20, 50), torch.randn(20, 50)


def views(b):
    z = torch.randn(b, 20)
    return torch.tanh(z @ mixA) + .1 * torch.randn(b, 50), torch.tanh(z @ mixB) + .1 * torch.randn(b, 50)


enc = nn.ModuleList(nn.Sequential(nn.Linear(50, 96), nn.ReLU(), nn.Linear(96, 24)) for _ in range(2))
opt = torch.optim.Adam(enc.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.97)
ev = views(512)


def nce(a, b):
    s = F.normalize(enc[0](a), dim=1) @ F.normalize(enc[1](b), dim=1).T / TEMP
    t = torch.arange(len(a))
    return F.cross_entropy(s, t), (s.argmax(1) == t).float().mean()


with open("nce.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["epoch", "lr", "nce_train", "nce_eval", "r@1"])
    for ep in range(EPOCHS):
        tot = 0
        for _ in range(25):
            l, _a = nce(*views(BS)); opt.zero_grad(); l.backward(); opt.step(); tot += l.item() / 25
        with torch.no_grad():
            v, r = nce(*ev)
        w.writerow([ep, f"{opt.param_groups[0]['lr']:.3e}", f"{tot:.4f}", f"{v:.4f}", f"{r:.4f}"])
        sched.step()
