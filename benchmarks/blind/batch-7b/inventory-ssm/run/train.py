import json
import torch
import torch.nn as nn

cfg = json.load(open("config.json"))
torch.manual_seed(cfg["seed"])


class DiagonalSSM(nn.Module):
    """h_t = a * h_{t-1} + b * u_t,  y = c . h_T   (computed as a convolution kernel)"""

    def __init__(self, state=16, length=120):
        super().__init__()
        self.a = nn.Parameter(torch.linspace(0.5, 0.93, state))
        self.b = nn.Parameter(0.3 * torch.randn(state))
        self.c = nn.Parameter(0.1 * torch.randn(state))
        self.register_buffer("k", torch.arange(length - 1, -1, -1.0))

    def forward(self, u):
        kernel = (self.c * self.b * self.a[None] ** self.k[:, None]).sum(1)
        return u @ kernel


model = DiagonalSSM(length=cfg["length"])
opt = torch.optim.SGD(model.parameters(), lr=cfg["lr"], momentum=0.9)
weights = cfg["growth"] ** torch.arange(cfg["length"] - 1, -1, -1.0)
weights = weights / weights.pow(2).sum().sqrt()
with open("metrics.jsonl", "w") as f:
    for step in range(cfg["steps"]):
        u = torch.randn(cfg["batch_size"], cfg["length"])
        loss = ((model(u) - u @ weights) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        gn = nn.utils.clip_grad_norm_(model.parameters(), cfg["max_norm"] or float("inf"))
        opt.step()
        if step % cfg["log_every"] == 0:
            f.write(json.dumps({"step": step, "loss": loss.item(), "grad_norm": gn.item(), "lr": cfg["lr"]}) + "\n")
