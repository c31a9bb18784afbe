import logging, sys
import numpy as np, torch, torch.nn as nn

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s (%(module)s:%(lineno)d) %(levelname)s: %(message)s")
torch.manual_seed(11)
d = np.load("data/kws_mfcc.npz")
x, y, xv, yv = (torch.tensor(d[k]) for k in ("x", "y", "xv", "yv"))


class KWS(nn.Module):
    def __init__(self, h=64):
        super().__init__()
        self.rnn = nn.RNN(13, h, nonlinearity="relu", batch_first=True)
        nn.init.eye_(self.rnn.weight_hh_l0)
        nn.init.normal_(self.rnn.weight_ih_l0, 0, 0.03)
        self.out = nn.Linear(h, 10)

    def forward(self, t):
        return self.out(self.rnn(t)[0][:, -1])


net = KWS()
opt = torch.optim.SGD(net.parameters(), lr=0.002, momentum=0.9)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 6 * 75)
it = 0
for epoch in range(1, 7):
    net.train()
    for i in torch.randperm(len(x)).split(32):
        loss = nn.functional.cross_entropy(net(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        gn = torch.stack([p.grad.norm() for p in net.parameters()]).norm()
        opt.step()
        sched.step()
        it += 1
        if it % 3 == 0:
            logging.info(f"{epoch}epoch:train:{it}batch: loss={loss.item():.4e}, grad_norm={float(gn):.3e}, optim0_lr0={opt.param_groups[0]['lr']:.3e}")
    net.eval()
    with torch.no_grad():
        o = net(xv)
    logging.info(f"{epoch}epoch results: [valid] loss={nn.functional.cross_entropy(o, yv).item():.4f}, acc={(o.argmax(1) == yv).float().mean():.4f}")
