import torch, torch.nn as nn, yaml
from utils_data import tab
c = yaml.safe_load(open("cfg.yaml"))
torch.manual_seed(0)
X, Y = tab(6000, d=10, seed=1, reg=True, noise=.2); Xv, Yv = tab(800, d=10, seed=2, reg=True, noise=.2)
heavy = torch.zeros(6000, dtype=torch.bool); heavy[torch.randperm(6000)[:40]] = True
X[heavy] = X[heavy] * 4
net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1))
master = list(net.parameters())
opt = torch.optim.Adam(master, lr=c["lr"])
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, c["steps"])
S = float(c["fp16"]["static_loss_scale"])
for step in range(c["steps"]):
    i = torch.randint(0, 6000, (c["batch"],))
    loss = ((net(X[i]).squeeze(1) - Y[i]) ** 2).mean()
    opt.zero_grad()
    (loss * S).backward()
    gmax = 0.0
    for p in master:
        g16 = p.grad.half()
        gmax = max(gmax, g16.abs().max().item())
        p.grad = g16.float() / S
    opt.step(); sch.step()
    if step % 10 == 0 or gmax == float("inf") and step % 2 == 0:
        print(f"step {step:04d} loss {loss.item():.4f} scaled_grad16_absmax {gmax:.0f} scale {S:.0f}")
    if step % 100 == 99:
        with torch.no_grad(): print(f"  eval mse {((net(Xv).squeeze(1) - Yv) ** 2).mean().item():.4f} (target var {Yv.var():.4f})")
