import argparse, logging, math, os, torch
from torch import nn
ap = argparse.ArgumentParser()
ap.add_argument("--stop", type=int, default=1600)
ap.add_argument("--resume")
a = ap.parse_args()
logging.basicConfig(filename=f"{os.environ.get('RUN_TAG', 'a')}.log", filemode="w", level=logging.INFO, format="%(asctime)s %(name)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("codon")
torch.manual_seed(1); torch.set_num_threads(1)
V, T, PEAK, TOTAL = 21, 24, 1.5e-2, 1600
tab = torch.softmax(2.5 * torch.randn(V, V, V), -1)


def batch(n, g):
    x = [torch.randint(V, (n,), generator=g), torch.randint(V, (n,), generator=g)]
    for _ in range(T):
        x.append(torch.multinomial(tab[x[-2], x[-1]], 1, generator=g)[:, 0])
    return torch.stack(x, 1)


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.r, self.h = nn.Embedding(V, 32), nn.GRU(32, 64, batch_first=True), nn.Linear(64, V)

    def forward(self, x):
        return self.h(self.r(self.e(x))[0])


m = LM()
opt = torch.optim.Adam(m.parameters(), lr=PEAK)
sch = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: 0.01 + 0.99 * max(0., 1 - s / TOTAL) ** 2)
start = 0
if a.resume:
    ck = torch.load(a.resume)
    m.load_state_dict(ck["model"])
    # opt.load_state_dict(ck["opt"])
    start = ck["step"]
    log.info("resumed from %s at step %d", a.resume, start)
gen = torch.Generator().manual_seed(100 + start)
for s in range(start + 1, a.stop + 1):
    x = batch(32, gen)
    loss = nn.functional.cross_entropy(m(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
    opt.zero_grad(); loss.backward(); opt.step()
    lr = sch.get_last_lr()[0]
    sch.step()
    if s % 10 == 0:
        log.info("step %5d   xent %.4f   lr %.2e", s, loss.item(), lr)
torch.save({"model": m.state_dict(), "opt": opt.state_dict(), "sched": sch.state_dict(), "step": s}, "last.pt")
