import json
import torch, yaml
import torch.nn as nn
import torch.nn.functional as F
from data import keywords

torch.set_num_threads(1)
cfg = yaml.safe_load(open("stages.yaml"))
torch.manual_seed(cfg["seed"])
x, y = keywords(20000, seed=1, noise=2.0)
xv, yv = keywords(800, seed=2, noise=2.0)
net = nn.Sequential(nn.Conv1d(16, 48, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(48, 48, 3, padding=1), nn.ReLU(),
                    nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(192, 64), nn.ReLU(), nn.Linear(64, 8))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
bounds = sorted((int(k), float(v)) for k, v in cfg["lr_at_step"].items())


def lr_for(step):
    return [v for k, v in bounds if k <= step][-1]


out = open("metrics.jsonl", "w")
for step in range(cfg["max_steps"]):
    for g in opt.param_groups:
        g["lr"] = lr_for(step)
    i = torch.randint(len(x), (cfg["batch"],))
    loss = F.cross_entropy(net(x[i].transpose(1, 2)), y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        out.write(json.dumps({"step": step, "lr": lr_for(step), "train/ce": round(loss.item(), 5)}) + "\n")
    if step % 100 == 99:
        with torch.no_grad():
            o = net(xv.transpose(1, 2))
        out.write(json.dumps({"step": step, "dev/ce": round(F.cross_entropy(o, yv).item(), 5), "dev/acc": round((o.argmax(1) == yv).float().mean().item(), 4)}) + "\n")
