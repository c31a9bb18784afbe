import numpy as np, torch, yaml
from torch import nn
from torch.utils.tensorboard import SummaryWriter

cfg = yaml.safe_load(open("kiln.yaml"))
torch.manual_seed(12); torch.set_num_threads(1)
rng = np.random.default_rng(12)
n = 2600
u = np.repeat(rng.uniform(0, 1, n // 13), 13)            # burner setting
T = np.zeros(n); T2 = 0.0
for t in range(1, n):
    T2 += 0.25 * (u[t] - T2)
    T[t] = T[t - 1] + 0.12 * (2.2 * T2 - T[t - 1]) + 0.01 * rng.normal()
T = (T - T.mean()) / T.std()
w = cfg["window"]
X = np.stack([np.stack([u[i:i + w], T[i:i + w]], -1) for i in range(n - w - 5)])
Y = T[w + 5 - 1:w + 5 - 1 + len(X)]
X, Y = torch.tensor(X, dtype=torch.float32), torch.tensor(Y, dtype=torch.float32)
ntr = 2000


class Net(nn.Module):
    def __init__(s):
        super().__init__()
        s.g = nn.GRU(2, cfg["hidden"], batch_first=True); s.o = nn.Linear(cfg["hidden"], 1)

    def forward(s, x):
        return s.o(s.g(x)[0][:, -1]).squeeze(-1)


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=cfg["lr_table"][0])
tb = SummaryWriter(cfg["logdir"])
for ep in range(cfg["epochs"]):
    if ep in cfg["lr_table"]:
        for g in opt.param_groups:
            g["lr"] = float(cfg["lr_table"][ep])
    tot = 0
    perm = torch.randperm(ntr)[:960]
    for b in perm.split(cfg["batch_size"]):
        loss = nn.functional.mse_loss(net(X[b]), Y[b])
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item() * len(b)
    with torch.no_grad():
        v = nn.functional.mse_loss(net(X[ntr:]), Y[ntr:]).item()
    tb.add_scalar("mse/fit", tot / len(perm), ep)
    tb.add_scalar("mse/check", v, ep)
    tb.add_scalar("opt/lr", opt.param_groups[0]["lr"], ep)
tb.close()
