import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(5)
centres = torch.stack([torch.arange(6) * math.pi / 3]).T
centres = torch.cat([centres.cos(), centres.sin()], 1)


def real(n):
    return centres[torch.randint(6, (n,))] + 0.15 * torch.randn(n, 2)


def sliced_w(a, b):
    d = F.normalize(torch.randn(2, 64), dim=0)
    return ((a @ d).sort(0)[0] - (b @ d).sort(0)[0]).abs().mean().item()


G = nn.Sequential(nn.Linear(4, 96), nn.LeakyReLU(0.2), nn.Linear(96, 96), nn.LeakyReLU(0.2), nn.Linear(96, 2))
D = nn.Sequential(nn.Linear(2, 96), nn.LeakyReLU(0.2), nn.Linear(96, 96), nn.LeakyReLU(0.2), nn.Linear(96, 1))
og = torch.optim.Adam(G.parameters(), lr=3e-4, betas=(0.5, 0.99))
od = torch.optim.Adam(D.parameters(), lr=6e-4, betas=(0.5, 0.99))
for it in range(1, 3001):
    x = real(128).requires_grad_()
    fake = G(torch.randn(128, 4))
    dr = D(x)
    r1 = torch.autograd.grad(dr.sum(), x, create_graph=True)[0].pow(2).sum(1).mean()
    loss_d = F.softplus(-dr).mean() + F.softplus(D(fake.detach())).mean() + 0.1 * r1
    od.zero_grad()
    loss_d.backward()
    od.step()
    loss_g = F.softplus(-D(fake)).mean()
    og.zero_grad()
    loss_g.backward()
    og.step()
    if it % 50 == 0:
        with torch.no_grad():
            s = G(torch.randn(2000, 4))
            hit = torch.cdist(s, centres).argmin(1)
        print(f"it {it} d_loss {loss_d.item():.3f} g_loss {loss_g.item():.3f} r1 {r1.item():.3f} swd {sliced_w(s, real(2000)):.4f} modes {int((torch.bincount(hit, minlength=6) > 60).sum())}/6")
