import logging
import torch
import torch.nn as nn
import torch.nn.functional as F
from data import tabular

torch.set_num_threads(1)
torch.manual_seed(0)
logging.basicConfig(filename="ltr.log", level=logging.INFO, format="%(asctime)s %(message)s")
DOCS = 10


class Scorer(nn.Module):
    """document scorer for listwise ranking"""

    def __init__(self, d=12, h=64, b0=-6.0):
        super().__init__()
        self.l1, self.l2, self.out = nn.Linear(d, h), nn.Linear(h, h), nn.Linear(h, 1)
        for l in (self.l1, self.l2):
            nn.init.kaiming_normal_(l.weight)
            nn.init.constant_(l.bias, b0)

    def forward(self, x):
        a1 = F.relu(self.l1(x))
        a2 = F.relu(self.l2(a1))
        self.stat = ((a1 > 0).float().mean().item(), (a2 > 0).float().mean().item())
        return self.out(a2).squeeze(-1)


x, rel = tabular(40000, seed=1)
x, rel = x.view(-1, DOCS, 12), rel.view(-1, DOCS)
xv, rv = tabular(8000, seed=2)
xv, rv = xv.view(-1, DOCS, 12), rv.view(-1, DOCS)
net = Scorer()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 900)
for step in range(900):
    i = torch.randint(len(x), (64,))
    loss = F.cross_entropy(net(x[i]), torch.softmax(2 * rel[i], 1))
    opt.zero_grad()
    loss.backward()
    g1, go = net.l1.weight.grad.norm(), net.out.weight.grad.norm()
    opt.step()
    sched.step()
    if step % 25 == 0:
        with torch.no_grad():
            s = net(xv)
        top = (s.argmax(1) == rv.argmax(1)).float().mean()
        logging.info("step=%d listnet=%.4f P@1=%.3f active_l1=%.3f active_l2=%.3f grad_l1=%.2e grad_out=%.2e", step, loss, top, *net.stat, g1, go)
