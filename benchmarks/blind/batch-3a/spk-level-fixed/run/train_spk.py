import logging, sys
import torch
import torch.nn as nn
import torch.nn.functional as F
import yaml
from data import keywords

torch.set_num_threads(1)
cfg = yaml.safe_load(open("conf/spk.yaml"))
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s [%(levelname)s] %(message)s")
torch.manual_seed(cfg["seed"])
DT = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}[cfg["precision"]]


class SpkNet(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.f1 = nn.Linear(16, 64)
        self.f2 = nn.Linear(64, 64)
        self.head = nn.Linear(66, n)

    def lin(self, m, x):
        return F.linear(x, m.weight.to(DT), m.bias.to(DT))

    def forward(self, wave):
        x = wave.to(DT)
        energy = (x * x).sum(-1)                      # (B, T) frame energy
        x = F.layer_norm(x.float(), (16,)).to(DT)
        h = F.relu(self.lin(self.f2, F.relu(self.lin(self.f1, x)))).mean(1)
        e = torch.log1p(energy)
        h = torch.cat([h, e.mean(1, keepdim=True), e.std(1, keepdim=True)], 1)
        return self.lin(self.head, h).float()


def clips(n, seed):
    x, y = keywords(n, K=12, seed=seed, noise=1.0)
    g = torch.Generator().manual_seed(seed)
    gain = torch.exp(2.0 + 0.43 * torch.randn(n, 1, 1, generator=g))   # recording level
    return x * gain, y


xt, yt = clips(20000, 1)
xv, yv = clips(1000, 2)
xv = xv.clamp(-40, 40)
net = SpkNet(12)
opt = torch.optim.AdamW(net.parameters(), lr=cfg["lr"])
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg["steps"])
logging.info("precision=%s params=%d (master weights fp32)", cfg["precision"], sum(p.numel() for p in net.parameters()))
for step in range(1, cfg["steps"] + 1):
    i = torch.randint(len(xt), (cfg["batch"],))
    loss = F.cross_entropy(net(xt[i]), yt[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 20 == 0:
        logging.info("step %d/%d loss %.4f peak_amp %.1f lr %.2e", step, cfg["steps"], loss.item(), xt[i].abs().max(), sched.get_last_lr()[0])
    if step % 200 == 0:
        with torch.no_grad():
            o = net(xv)
        logging.info("  dev: loss %.4f acc %.4f", F.cross_entropy(o, yv), (o.argmax(1) == yv).float().mean())
