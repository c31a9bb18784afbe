import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F

ap = argparse.ArgumentParser()
ap.add_argument("--beta", type=float, default=1.0)
ap.add_argument("--anneal", type=int, default=0)
ap.add_argument("--epochs", type=int, default=15)
ap.add_argument("--z", type=int, default=8)
args = ap.parse_args()
print(args)
torch.manual_seed(0)


def blobs(n, seed):
    g = torch.Generator().manual_seed(seed)
    yy, xx = torch.meshgrid(torch.arange(12.), torch.arange(12.), indexing="ij")
    cx, cy, s = [3 + 6 * torch.rand(n, 1, 1, generator=g) for _ in range(2)] + [1 + torch.rand(n, 1, 1, generator=g)]
    return torch.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (2 * s ** 2)).view(n, 144)


class VAE(nn.Module):
    def __init__(self, z):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(144, 128), nn.ReLU(), nn.Linear(128, 2 * z))
        self.dec = nn.Sequential(nn.Linear(z, 128), nn.ReLU(), nn.Linear(128, 144))

    def forward(self, x):
        mu, lv = self.enc(x).chunk(2, 1)
        return self.dec(mu + torch.randn_like(mu) * (0.5 * lv).exp()), mu, lv


train, test = blobs(4000, 1), blobs(800, 2)
vae = VAE(args.z)
opt = torch.optim.Adam(vae.parameters(), lr=1e-3)
for epoch in range(1, args.epochs + 1):
    beta = args.beta * min(1.0, epoch / args.anneal) if args.anneal else args.beta
    tot = rec_s = kl_s = 0.0
    for idx in torch.randperm(len(train)).split(50):
        x = train[idx]
        xr, mu, lv = vae(x)
        rec = F.binary_cross_entropy_with_logits(xr, x, reduction="sum") / len(x)
        kl = -0.5 * (1 + lv - mu ** 2 - lv.exp()).sum(1).mean()
        loss = rec + beta * kl
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item(); rec_s += rec.item(); kl_s += kl.item()
    nb = len(train) // 50
    with torch.no_grad():
        xr, mu, lv = vae(test)
        tr = F.binary_cross_entropy_with_logits(xr, test, reduction="sum") / len(test)
        tk = -0.5 * (1 + lv - mu ** 2 - lv.exp()).sum(1).mean()
        au = int((mu.var(0) > 0.01).sum())
    print(f"====> Epoch: {epoch} beta {beta:.2f} Average loss: {tot/nb:.4f} (recon {rec_s/nb:.4f}, KL {kl_s/nb:.4f})")
    print(f"====> Test set recon: {tr:.4f} KL: {tk:.4f} active units: {au}/{args.z}")
