import argparse, logging, os, math
import torch
import torch.nn as nn
import torch.nn.functional as F
from data import get_batch, stream

torch.set_num_threads(1)
p = argparse.ArgumentParser()
p.add_argument("--stop_at", type=int, default=1000)
p.add_argument("--resume", default=None)
p.add_argument("--log", default="train.log")
a = p.parse_args()
logging.basicConfig(filename=a.log, level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s: %(message)s")
log = logging.getLogger("charlm")
torch.manual_seed(17 + (a.resume is not None))
TOTAL, WARM, PEAK = 1000, 10, 0.02


class CharLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(40, 40)
        self.r = nn.LSTM(40, 80, batch_first=True)
        self.o = nn.Linear(80, 40)

    def forward(self, x):
        return self.o(self.r(self.e(x))[0])


def factor(s):
    return (s + 1) / WARM if s < WARM else 0.02 + 0.49 * (1 + math.cos(math.pi * (s - WARM) / (TOTAL - WARM)))


net = CharLM()
opt = torch.optim.Adam(net.parameters(), lr=PEAK)
sched = torch.optim.lr_scheduler.LambdaLR(opt, factor)
start = 0
if a.resume:
    ck = torch.load(a.resume)
    net.load_state_dict(ck["model"])
    opt.load_state_dict(ck["opt"])
    sched.load_state_dict(ck["sched"])
    start = ck["step"]
    log.info("resumed from %s at step %d", a.resume, start)
text = stream(300000, 40, 8, 1.7)
tr, va = text[:-20000], text[-20000:]
xv, yv = get_batch(va, 24, 300, torch.Generator().manual_seed(0))
run = []
for step in range(start, min(a.stop_at, TOTAL)):
    x, y = get_batch(tr, 24, 32)
    loss = F.cross_entropy(net(x).flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    run.append(loss.item())
    if (step + 1) % 10 == 0:
        log.info("step %d loss %.4f lr %.3e", step + 1, sum(run) / len(run), opt.param_groups[0]["lr"])
        run = []
    if (step + 1) % 100 == 0:
        with torch.no_grad():
            o = net(xv)
        log.info("eval step %d val_loss %.4f bpc %.4f", step + 1, F.cross_entropy(o.flatten(0, 1), yv.flatten()), F.cross_entropy(o.flatten(0, 1), yv.flatten()) / math.log(2))
    sched.step()
os.makedirs("ck", exist_ok=True)
torch.save({"model": net.state_dict(), "opt": opt.state_dict(), "sched": sched.state_dict(), "step": step + 1}, "ck/last.pt")
log.info("saved ck/last.pt at step %d", step + 1)
