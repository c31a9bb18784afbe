import math
import torch
import torch.nn as nn

torch.manual_seed(0)
MODES = 6
NOISE = 8
G_STEPS, D_STEPS, LR_G, LR_D = 10, 1, 1e-3, 3e-3
centres = torch.tensor([[2 * math.cos(2 * math.pi * k / MODES), 2 * math.sin(2 * math.pi * k / MODES)] for k in range(MODES)])
G = nn.Sequential(nn.Linear(NOISE, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 2))
D = nn.Sequential(nn.Linear(2, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1))
og, od = torch.optim.Adam(G.parameters(), LR_G, betas=(0.0, 0.9)), torch.optim.Adam(D.parameters(), LR_D, betas=(0.0, 0.9))
bce = nn.functional.binary_cross_entropy_with_logits


def real(n):
    return centres[torch.randint(MODES, (n,))] + 0.15 * torch.randn(n, 2)


def fake(n):
    return G(torch.randn(n, NOISE))


def modes():
    with torch.no_grad():
        d, k = torch.cdist(fake(1000), centres).min(1)
        return len(set(k[d < 0.5].tolist())), fake(1000).std(0).mean().item()


for step in range(1501):
    for _ in range(D_STEPS):
        x, f = real(128), fake(128).detach()
        ld = (bce(D(x), torch.ones(128, 1)) + bce(D(f), torch.zeros(128, 1))) / 2
        od.zero_grad()
        ld.backward()
        od.step()
    for _ in range(G_STEPS):
        lg = bce(D(fake(128)), torch.ones(128, 1))
        og.zero_grad()
        lg.backward()
        og.step()
    if step % 15 == 0:
        m, s = modes()
        print(f"[{step}/1500] D_loss: {ld.item():.4f} G_loss: {lg.item():.4f} modes: {m}/{MODES} sample_std: {s:.3f}")
