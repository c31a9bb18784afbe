import csv, torch, yaml
from torch import nn
o = yaml.safe_load(open("opts.yaml"))
torch.manual_seed(11); torch.set_num_threads(1)


def glyphs(n):
    im = torch.zeros(n, 10, 10)
    for k in range(n):
        a, b, c = torch.randint(1, 9, (3,)).tolist()
        im[k, a, :b + 1] = 1; im[k, b:, c] = 1
        im[k, min(a, c), min(a, c)] = 1
    return im.flatten(1)


class VAE(nn.Module):
    def __init__(s):
        super().__init__()
        h, z = o["hidden"], o["zdim"]
        s.enc = nn.Sequential(nn.Linear(100, h), nn.ReLU(), nn.Linear(h, 2 * z))
        s.dec = nn.Sequential(nn.Linear(z, h), nn.ReLU(), nn.Linear(h, 100))

    def forward(s, x):
        m, lv = s.enc(x).chunk(2, 1)
        r = s.dec(m + (lv / 2).exp() * torch.randn_like(m))
        rec = nn.functional.binary_cross_entropy_with_logits(r, x, reduction="none").sum(1).mean()
        return rec, (.5 * (m ** 2 + lv.exp() - lv - 1)).sum(1).mean()


x, xv = glyphs(2000), glyphs(500)
net = VAE()
opt = torch.optim.Adam(net.parameters(), lr=o["lr"])
with open("elbo.csv", "w", newline="") as f:
    w = csv.writer(f); w.writerow("epoch elbo_loss rec kl val_rec val_kl".split())
    for ep in range(o["epochs"]):
        R = K = 0
        for b in torch.randperm(2000).split(o["batch"]):
            rec, kl = net(x[b])
            loss = rec + o["beta"] * kl
            opt.zero_grad(); loss.backward(); opt.step()
            R += rec.item() / 20; K += kl.item() / 20
        with torch.no_grad():
            vr, vk = net(xv)
        w.writerow([ep] + [f"{v:.4f}" for v in (R + o["beta"] * K, R, K, vr, vk)])
