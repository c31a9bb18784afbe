import argparse, math, os, time
import numpy as np
import torch
from torch import nn

ap = argparse.ArgumentParser()
ap.add_argument("--resume")
ap.add_argument("--stop-at", type=int, default=10**9)     # wall-clock guard of the queue
args = ap.parse_args()
STEPS, WARM, LR = 600, 40, 2e-2
torch.manual_seed(7)
d = np.load("data/text.npz")
ids, V = torch.tensor(d["ids"]).long(), len(d["chars"])
cut = len(ids) - 20000


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(V, 16)
        self.r = nn.GRU(16, 48, batch_first=True)
        self.o = nn.Linear(48, V)

    def forward(self, x):
        return self.o(self.r(self.e(x))[0])


def get(lo, hi, n=16, T=32):
    i = torch.randint(lo, hi - T - 1, (n,))
    w = torch.stack([ids[k:k + T + 1] for k in i])
    return w[:, :-1], w[:, 1:]


def nll(x, y):
    return nn.functional.cross_entropy(net(x).flatten(0, 1), y.flatten())


net = LM()
opt = torch.optim.SGD(net.parameters(), lr=100 * LR, momentum=0.9)
sch = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min((s + 1) / WARM, 0.5 * (1 + math.cos(math.pi * min(s, STEPS) / STEPS)) + 0.01))
start = 0
if args.resume:
    ck = torch.load(args.resume)
    net.load_state_dict(ck["net"])
    opt.load_state_dict(ck["opt"])
    sch.load_state_dict(ck["sch"])
    start = ck["step"]
    print(f"[{time.strftime('%H:%M:%S')}] resumed {args.resume} at step {start}")
for s in range(start + 1, STEPS + 1):
    x, y = get(0, cut)
    loss = nll(x, y)
    opt.zero_grad()
    loss.backward()
    gn = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    lr = opt.param_groups[0]["lr"]
    opt.step()
    sch.step()
    if s % 10 == 0:
        print(f"[{time.strftime('%H:%M:%S')}] step {s} loss {loss.item():.4f} gnorm {gn:.3f} lr {lr:.5f}")
    if s % 50 == 0:
        with torch.no_grad():
            v = np.mean([nll(*get(cut, len(ids))).item() for _ in range(8)])
        print(f"[{time.strftime('%H:%M:%S')}] step {s} val_loss {v:.4f}")
        os.makedirs("ckpt", exist_ok=True)
        torch.save(dict(net=net.state_dict(), opt=opt.state_dict(), sch=sch.state_dict(), step=s), "ckpt/last.pt")
    if s >= args.stop_at:
        print("queue limit close, leaving after checkpoint")
        break
