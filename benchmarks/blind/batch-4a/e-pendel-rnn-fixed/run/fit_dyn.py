import json, yaml
import torch, torch.nn as nn
torch.set_num_threads(1)
cfg = yaml.safe_load(open("exp.yaml"))
torch.manual_seed(cfg["seed"])


def pendulum(n, T, dt=0.1):
    """driven damped pendulum: torque sequence in, (sin angle, velocity) at the end out"""
    u = torch.randn(n, T, 1) * 1.2
    th, om = torch.zeros(n), torch.zeros(n)
    for k in range(T):
        om = om + dt * (-torch.sin(th) - 0.15 * om + u[:, k, 0]); th = th + dt * om
    return u, torch.stack([torch.sin(th), om], 1)


class Sim(nn.Module):
    def __init__(self, h=64):
        super().__init__()
        self.rnn = nn.RNN(1, h, nonlinearity="relu", batch_first=True)
        nn.init.eye_(self.rnn.weight_hh_l0)        # IRNN, Le et al. 2015
        self.out = nn.Linear(h, 2)

    def forward(self, u):
        return self.out(self.rnn(u)[1][0])


H = cfg["horizon"]
net = Sim()
opt = torch.optim.SGD(net.parameters(), lr=cfg["lr"], momentum=cfg["momentum"])
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg["iters"], eta_min=1e-4)
U, Y = pendulum(3000, H); UV, YV = pendulum(1000, H)
f = open("log.jsonl", "w")
for it in range(cfg["iters"]):
    i = torch.randint(0, 3000, (cfg["batch_size"],))
    loss = (net(U[i]) - Y[i]).pow(2).mean()
    opt.zero_grad(); loss.backward()
    gn = nn.utils.clip_grad_norm_(net.parameters(), cfg["clip_norm"] or float("inf"))
    opt.step(); sch.step()
    if it < 40 or it % 10 == 0:
        rec = dict(it=it, mse=loss.item(), grad_norm=gn.item(), lr=round(sch.get_last_lr()[0], 6))
        if it % 100 == 0:
            with torch.no_grad():
                rec["val_mse"] = (net(UV) - YV).pow(2).mean().item(); rec["val_var"] = YV.var(0).mean().item()
        f.write(json.dumps(rec) + "\n"); f.flush()
