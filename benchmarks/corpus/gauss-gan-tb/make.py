import torch
import torch.nn as nn
from torch.utils.tensorboard import SummaryWriter

torch.manual_seed(3)
G = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
og, od = torch.optim.Adam(G.parameters(), 5e-4, betas=(0.5, 0.9)), torch.optim.Adam(D.parameters(), 5e-4, betas=(0.5, 0.9))
bce = nn.functional.binary_cross_entropy_with_logits
one, zero = torch.ones(256, 1), torch.zeros(256, 1)
A = torch.tensor([[1.0, 0.6], [0.0, 0.5]])
tb = SummaryWriter("tb_gan")
for s in range(3500):
    r = torch.randn(256, 2) @ A + torch.tensor([1.5, -1.0])
    f = G(torch.randn(256, 4))
    ld = bce(D(r), one) + bce(D(f.detach()), zero)
    od.zero_grad()
    ld.backward()
    od.step()
    lg = bce(D(G(torch.randn(256, 4))), one)
    og.zero_grad()
    lg.backward()
    og.step()
    if s % 10 == 0:
        tb.add_scalar("D/loss", ld.item(), s)
        tb.add_scalar("G/loss", lg.item(), s)
        tb.add_scalar("moments/mean_err", (f.mean(0) - r.mean(0)).norm().item(), s)
        tb.add_scalar("moments/std_err", (f.std(0) - r.std(0)).norm().item(), s)
tb.close()
