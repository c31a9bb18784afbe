"""VAE on 8x8 glyphs"""
import argparse, json
import torch, torch.nn as nn, torch.nn.functional as F
torch.set_num_threads(1)
torch.manual_seed(2)

proto = (torch.rand(12, 64) < 0.4).float()


def glyphs(n):
    k = torch.randint(0, 12, (n,)); x = proto[k]
    flip = (torch.rand(n, 64) < 0.05).float()
    return (x - flip).abs()


class VAE(nn.Module):
    def __init__(self, z=8):
        super().__init__()
        self.e = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 2 * z))
        self.d = nn.Sequential(nn.Linear(z, 128), nn.ReLU(), nn.Linear(128, 64))

    def forward(self, x):
        mu, lv = self.e(x).chunk(2, 1)
        return self.d(mu + torch.randn_like(mu) * (0.5 * lv).exp()), mu, lv


vae = VAE()
opt = torch.optim.Adam(vae.parameters(), 1e-3)
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 40)
for ep in range(40):
    R = K = A = 0.0
    for _ in range(60):
        x = glyphs(64)
        o, mu, lv = vae(x)
        rec = F.binary_cross_entropy_with_logits(o, x, reduction="mean")
        kl = -0.5 * (1 + lv - mu ** 2 - lv.exp()).sum(1).mean()
        loss = rec + kl
        opt.zero_grad(); loss.backward(); opt.step()
        R += rec.item() / 60; K += kl.item() / 60; A += mu.std(0).mean().item() / 60
    sch.step()
    print(f"====> Epoch: {ep + 1} Average loss: {R + K:.4f} (recon {R:.4f} kl {K:.5f}) mu_std {A:.4f}")
