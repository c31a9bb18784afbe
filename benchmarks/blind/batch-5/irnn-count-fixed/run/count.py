"""Running event counter with an identity-initialised ReLU RNN."""
import argparse
import numpy as np
import torch
from torch import nn

p = argparse.ArgumentParser()
p.add_argument("--T", type=int, default=100)
p.add_argument("--hidden", type=int, default=24)
p.add_argument("--lr", type=float, default=0.003)
p.add_argument("--iters", type=int, default=400)
p.add_argument("--max-norm", type=float, default=0.0, help="0 = off")
a = p.parse_args()
torch.manual_seed(8)
RATE = 0.1


def sample(n):
    x = (torch.rand(n, a.T) < RATE).float()
    return x.unsqueeze(-1), x.cumsum(1) / (RATE * a.T)


rnn = nn.RNN(1, a.hidden, nonlinearity="relu", batch_first=True)
with torch.no_grad():
    rnn.weight_hh_l0.copy_(torch.eye(a.hidden))
    rnn.weight_ih_l0.normal_(0, 0.1)
    rnn.bias_hh_l0.zero_()
    rnn.bias_ih_l0.zero_()
out = nn.Linear(a.hidden, 1)
params = list(rnn.parameters()) + list(out.parameters())
opt = torch.optim.SGD(params, lr=a.lr, momentum=0.9)
sch = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.05, total_iters=a.iters)
print(vars(a))
for it in range(1, a.iters + 1):
    x, y = sample(32)
    h, _ = rnn(x)
    loss = (out(h).squeeze(2) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    if a.max_norm > 0:
        gn = nn.utils.clip_grad_norm_(params, a.max_norm)
    else:
        gn = torch.stack([q.grad.norm() for q in params]).norm()
    opt.step()
    sch.step()
    if it <= 20 or it % 10 == 0:
        print(f"it {it:4d}  mse {loss.item():.5g}  |g| {gn.item():.3g}  |h_T| {h[:, -1].norm(dim=1).mean().item():.3g}")
