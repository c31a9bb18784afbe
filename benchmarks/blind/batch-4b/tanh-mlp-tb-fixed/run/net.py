import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.tensorboard import SummaryWriter

torch.manual_seed(0)
torch.set_num_threads(1)
d = np.load("data/churn.npz")
x, y = torch.tensor(d["x"]), torch.tensor(d["y"])
xt, yt, xv, yv = x[:7500], y[:7500], x[7500:], y[7500:]


class Net(nn.Module):
    def __init__(self, h=128):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(20, h), nn.Linear(h, h), nn.Linear(h, h)])
        self.head = nn.Linear(h, 2)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.xavier_normal_(m.weight, gain=5 / 3)
                nn.init.zeros_(m.bias)

    def forward(self, t):
        self.sat = []
        for l in self.layers:
            t = torch.tanh(l(t))
            self.sat.append((t.abs() > 0.98).float().mean())
        return self.head(t)


net, w = Net(), SummaryWriter("runs/churn_tanh3")
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=8e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 12)
step = 0
for ep in range(12):
    for i in torch.randperm(len(xt)).split(100):
        loss = F.cross_entropy(net(xt[i]), yt[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            w.add_scalar("loss/train", loss.item(), step)
            for k, l in enumerate(net.layers):
                w.add_scalar(f"tanh_sat/layer{k}", net.sat[k].item(), step)
                w.add_scalar(f"grad/layer{k}", l.weight.grad.norm().item(), step)
        step += 1
    sched.step()
    with torch.no_grad():
        o = net(xv)
    w.add_scalar("loss/val", F.cross_entropy(o, yv).item(), step)
    w.add_scalar("acc/val", (o.argmax(1) == yv).float().mean().item(), step)
w.close()
print(F.cross_entropy(o, yv).item(), (o.argmax(1) == yv).float().mean().item(), loss.item(), net.sat)
