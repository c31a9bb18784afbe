import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

LATENT = 8
BETA = 25.0
torch.manual_seed(0)
x = torch.tensor(np.load("data/glyphs.npz")["x"])
N, D = x.shape


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(D, 128), nn.ReLU(), nn.Linear(128, 2 * LATENT))
        self.dec = nn.Sequential(nn.Linear(LATENT, 128), nn.ReLU(), nn.Linear(128, D))

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, 1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(1, 21):
    R = K = 0.0
    for i in torch.randperm(N).split(100):
        recon, mu, logvar = model(x[i])
        bce = F.binary_cross_entropy_with_logits(recon, x[i], reduction="sum") / len(i)
        kld = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum() / len(i)
        loss = bce + BETA * kld
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        R += bce.item() * len(i) / N
        K += kld.item() * len(i) / N
    print(f"====> Epoch: {epoch} Average loss: {R + BETA * K:.4f}  (BCE {R:.3f}  KLD {K:.5f})")
