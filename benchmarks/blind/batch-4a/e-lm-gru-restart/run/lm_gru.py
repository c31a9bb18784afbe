import argparse, os, logging, math, sys
import torch, torch.nn as nn, torch.nn.functional as F
torch.set_num_threads(1)
ap = argparse.ArgumentParser()
ap.add_argument("--resume", default="")
ap.add_argument("--until", type=int, default=1000000)
ap.add_argument("--log", default="train.log")
a = ap.parse_args()
logging.basicConfig(filename=a.log, filemode="a", level=logging.INFO, format="%(levelname).1s %(asctime)s %(message)s", datefmt="%m%d %H:%M:%S")
log = logging.info
TOTAL, PEAK, WARM = 2400, 0.2, 100
torch.manual_seed(77)
M = torch.softmax(torch.randn(32, 32) * 2.2, 1)


def chars(n, T=16):
    x = torch.zeros(n, T + 1, dtype=torch.long); x[:, 0] = torch.randint(0, 32, (n,))
    for t in range(T): x[:, t + 1] = torch.multinomial(M[(x[:, t] + (x[:, t - 1] if t else 0)) % 32], 1)[:, 0]
    return x


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(32, 48); self.r = nn.GRU(48, 96, batch_first=True); self.o = nn.Linear(96, 32)

    def forward(self, x):
        return self.o(self.r(self.e(x))[0])


net = LM()
opt = torch.optim.SGD(net.parameters(), lr=PEAK, momentum=0.9)
sch = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min((s + 1) / WARM, 0.5 * (1 + math.cos(math.pi * min(1, s / TOTAL))) + 0.01))
start = 0
if a.resume:
    ck = torch.load(a.resume)
    net.load_state_dict(ck["model"])
    start = ck["step"]
    log(f"=> resumed from {os.path.basename(a.resume)} (step {start})")
torch.manual_seed(1000 + start)
val = chars(200)
avg = 0.0
for step in range(start + 1, TOTAL + 1):
    x = chars(32)
    loss = F.cross_entropy(net(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
    opt.zero_grad(); loss.backward(); gn = nn.utils.clip_grad_norm_(net.parameters(), 1.0); opt.step(); sch.step()
    avg += loss.item()
    if step % 25 == 0:
        log(f"step {step}/{TOTAL} loss {avg / 25:.4f} gnorm {gn:.3f} lr {sch.get_last_lr()[0]:.5f}"); avg = 0.0
    if step % 200 == 0:
        with torch.no_grad():
            log(f"step {step} valid_loss {F.cross_entropy(net(val[:, :-1]).flatten(0, 1), val[:, 1:].flatten()):.4f}")
        torch.save({"model": net.state_dict(), "opt": opt.state_dict(), "sched": sch.state_dict(), "step": step}, f"ckpt_{step}.pt")
    if step >= a.until:
        log("caught signal 15, exiting"); sys.exit(0)
log("training finished")
