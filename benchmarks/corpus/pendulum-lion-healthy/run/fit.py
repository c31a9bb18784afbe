import json
import torch
from torch import nn

C = json.load(open("config.json"))
torch.manual_seed(C["seed"])


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for g in self.param_groups:
            for p in g["params"]:
                if p.grad is None:
                    continue
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                b1, b2 = g["betas"]
                p.mul_(1 - g["lr"] * g["weight_decay"])
                p.add_(torch.sign(b1 * m + (1 - b1) * p.grad), alpha=-g["lr"])
                m.mul_(b2).add_(p.grad, alpha=1 - b2)


def step(s, dt):
    th, om = s[:, 0], s[:, 1]
    om = om - dt * (9.81 * torch.sin(th) + 0.2 * om)
    return torch.stack([th + dt * om, om], 1)


def sample(n):
    s = torch.rand(n, 2) * 2 - 1
    s = s * torch.tensor([3.0, 2.0])
    return s, (step(s, C["dt"]) - s) 


net = nn.Sequential(nn.Linear(2, C["hidden"]), nn.Tanh(), nn.Linear(C["hidden"], C["hidden"]), nn.Tanh(), nn.Linear(C["hidden"], 2))
opt = Lion(net.parameters(), C["lr"], C["betas"], C["wd"])
hold = sample(2000)
with open("log.jsonl", "w") as f:
    for k in range(C["steps"]):
        s, d = sample(C["batch"])
        mse = (net(s) - d).pow(2).mean()
        opt.zero_grad()
        mse.backward()
        opt.step()
        if k % 5 == 0:
            f.write(json.dumps({"step": k, "mse": mse.item()}) + "\n")
        if k % 250 == 0 or k == C["steps"] - 1:
            with torch.no_grad():
                f.write(json.dumps({"step": k, "holdout_mse": (net(hold[0]) - hold[1]).pow(2).mean().item()}) + "\n")
