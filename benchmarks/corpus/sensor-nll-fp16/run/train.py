import csv
import torch
import torch.nn as nn
import yaml

cfg = yaml.safe_load(open("config.yaml"))
torch.manual_seed(cfg["seed"])
amp = cfg["precision"] == "fp16"


class Calib(nn.Module):
    """mean and log-variance of a calibrated reading"""

    def __init__(self, h):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU())
        self.mean, self.logvar = nn.Linear(h, 1), nn.Linear(h, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), self.logvar(h)


def readings(n):
    x = torch.randn(n, 4)
    quiet = (torch.rand(n, 1) < 0.3).float()
    x[:, 3:] = quiet
    y = (1 - quiet) * (torch.sin(x[:, :1]) + 0.3 * x[:, 1:2] + 0.2 * torch.randn(n, 1)) + quiet * 2e-3 * torch.randn(n, 1)
    return x, y


net = Calib(cfg["hidden"])
opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"])
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg["steps"])
w = csv.writer(open("train_log.csv", "w"))
w.writerow(["step", "nll", "min_logvar", "lr"])
for step in range(cfg["steps"]):
    x, y = readings(cfg["batch_size"])
    with torch.autocast("cpu", dtype=torch.float16, enabled=amp):
        mu, logvar = net(x)
        nll = 0.5 * (logvar + (y.to(mu.dtype) - mu) ** 2 * torch.exp(-logvar))
    loss = nll.float().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 6 == 0:
        w.writerow([step, f"{loss.item():.5f}", f"{logvar.min().item():.3f}", f"{sched.get_last_lr()[0]:.6f}"])
