"""Behaviour cloning of a 6-joint arm controller."""
import logging
import torch
import torch.nn as nn

logging.basicConfig(level=logging.INFO, format="%(asctime)s [%(name)s] %(message)s", filename="bc.log", filemode="w")
log = logging.getLogger("bc")
torch.manual_seed(1)
GAIN = 1.0


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2, self.head = nn.Linear(12, 64), nn.Linear(64, 64), nn.Linear(64, 6)

    def forward(self, obs):
        h1 = torch.tanh(GAIN * self.l1(obs))
        h2 = torch.tanh(GAIN * self.l2(h1))
        return torch.tanh(self.head(h2)), (h1, h2)


K = torch.randn(12, 6) / 3
net = Policy()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for it in range(1, 2001):
    obs = torch.randn(128, 12)
    act = torch.tanh(obs @ K)
    pred, hs = net(obs)
    loss = (pred - act).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 20 == 0:
        sat = [(h.abs() > 0.97).float().mean().item() for h in hs]
        log.info("it %d bc_loss %.5f saturated l1 %.2f l2 %.2f grad_l1 %.2e grad_head %.2e", it, loss.item(), *sat, net.l1.weight.grad.norm().item(), net.head.weight.grad.norm().item())
