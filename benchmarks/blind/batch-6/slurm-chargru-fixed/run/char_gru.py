import os, sys, torch, torch.nn as nn, torch.nn.functional as F
from datasets_local import markov

torch.manual_seed(7)
V, E = 24, 40
data, val = markov(3000, 20, V, seed=1), markov(500, 20, V, seed=2)
class CharGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(V, 32); self.g = nn.GRU(32, 48, batch_first=True); self.o = nn.Linear(48, V)
    def forward(self, x): return self.o(self.g(self.e(x))[0])
model = CharGRU()
opt = torch.optim.Adam(model.parameters(), lr=0.05)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.72)
start, stop = 0, int(sys.argv[1])
if os.path.exists("last.pt"):
    ck = torch.load("last.pt")
    model.load_state_dict(ck["model"])
    opt.load_state_dict(ck["opt"]); sched.load_state_dict(ck["sched"])
    start = ck["epoch"] + 1
    print(f"=> loaded checkpoint 'last.pt' (epoch {ck['epoch']})")
nb = 50
for ep in range(start, stop):
    for b, i in enumerate(torch.randperm(3000).split(60)):
        x = data[i]
        loss = F.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        opt.zero_grad(); loss.backward(); opt.step()
        if b % 10 == 0: print(f"Epoch: [{ep}][{b:3d}/{nb}]  Loss {loss.item():.4e}  lr {opt.param_groups[0]['lr']:.2e}")
    sched.step()
    with torch.no_grad(): v = F.cross_entropy(model(val[:, :-1]).flatten(0, 1), val[:, 1:].flatten())
    print(f" * Epoch {ep} val loss {v:.4f} ppl {v.exp():.3f}", flush=True)
    torch.save({"model": model.state_dict(), "opt": opt.state_dict(), "sched": sched.state_dict(), "epoch": ep}, "last.pt")
