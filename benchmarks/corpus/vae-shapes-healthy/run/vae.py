import json
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(20)
cfg = dict(latent=8, beta=1.0, lr=1e-3, epochs=30, batch=64)
json.dump(cfg, open("vae_config.json", "w"))

def blobs(n):
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, 10), torch.linspace(-1, 1, 10), indexing="ij")
    c, s = torch.rand(n, 2, 1, 1) * 1.2 - .6, torch.rand(n, 1, 1) * .3 + .15
    return torch.exp(-((xx - c[:, 0]) ** 2 + (yy - c[:, 1]) ** 2) / s ** 2).flatten(1)

class VAE(nn.Module):
    def __init__(self, z):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(100, 128), nn.ReLU(), nn.Linear(128, 2 * z))
        self.dec = nn.Sequential(nn.Linear(z, 128), nn.ReLU(), nn.Linear(128, 100))
    def forward(self, x):
        mu, lv = self.enc(x).chunk(2, 1)
        return self.dec(mu + torch.randn_like(mu) * (lv / 2).exp()), mu, lv

x, xv = blobs(4000), blobs(500)
m = VAE(cfg["latent"]); opt = torch.optim.Adam(m.parameters(), lr=cfg["lr"])
log = open("vae_log.jsonl", "w")
for ep in range(cfg["epochs"]):
    R = K = 0.
    for b in torch.randperm(len(x)).split(cfg["batch"]):
        r, mu, lv = m(x[b])
        rec = F.mse_loss(r, x[b], reduction="sum") / len(b) * 10
        kl = -0.5 * (1 + lv - mu ** 2 - lv.exp()).sum(1).mean()
        loss = rec + cfg["beta"] * kl
        opt.zero_grad(); loss.backward(); opt.step()
        R += rec.item() * len(b) / len(x); K += kl.item() * len(b) / len(x)
    log.write(json.dumps({"epoch": ep, "elbo_loss": round(R + cfg["beta"] * K, 4), "recon": round(R, 4), "kl": round(K, 5)}) + "\n")
