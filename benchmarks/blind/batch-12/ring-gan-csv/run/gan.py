import csv, math, yaml
import torch, torch.nn as nn, torch.nn.functional as F

hp = yaml.safe_load(open("gan.yaml"))
torch.set_num_threads(1)
torch.manual_seed(hp["seed"])
centers = torch.tensor([[2 * math.cos(k * math.pi / 4), 2 * math.sin(k * math.pi / 4)] for k in range(8)])


def real(n):
    return centers[torch.randint(0, 8, (n,))] + 0.1 * torch.randn(n, 2)


G = nn.Sequential(nn.Linear(hp["z_dim"], 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
D = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
og = torch.optim.Adam(G.parameters(), lr=hp["lr_g"], betas=(0.5, 0.999))
od = torch.optim.Adam(D.parameters(), lr=hp["lr_d"], betas=(0.5, 0.999))
bce = F.binary_cross_entropy_with_logits
w = csv.writer(open("progress.csv", "w", newline=""))
w.writerow(["iter", "loss_d", "loss_g", "d_real", "d_fake", "fake_std", "modes_hit"])
B = hp["batch_size"]
fixed = torch.randn(512, hp["z_dim"])
for it in range(1, hp["iterations"] + 1):
    for _ in range(hp["d_steps"]):
        r, f = real(B), G(torch.randn(B, hp["z_dim"])).detach()
        dr, df = D(r), D(f)
        ld = bce(dr, torch.ones_like(dr)) + bce(df, torch.zeros_like(df))
        od.zero_grad(); ld.backward(); od.step()
    for _ in range(hp["g_steps"]):
        s = D(G(torch.randn(B, hp["z_dim"])))
        lg = bce(s, torch.ones_like(s))
        og.zero_grad(); lg.backward(); og.step()
    if it % hp["log_every"] == 0:
        with torch.no_grad():
            x = G(fixed)
            d = torch.cdist(x, centers)
            near = d.argmin(1)[d.min(1).values < 0.4]
            hit = int((torch.bincount(near, minlength=8) >= 8).sum())
        w.writerow([it, f"{ld.item():.4f}", f"{lg.item():.4f}", f"{dr.sigmoid().mean():.3f}", f"{df.sigmoid().mean():.3f}", f"{x.std(0).mean():.4f}", f"{hit}/8"])
