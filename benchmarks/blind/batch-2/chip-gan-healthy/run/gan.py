import json, torch
from torch import nn
torch.manual_seed(64); torch.set_num_threads(1)
Z, D = 8, 24
LR_D, LR_G = 2e-4, 1e-3
basis = torch.randn(3, D)


def real(n):
    return torch.tanh(torch.randn(n, 3) @ basis) + .03 * torch.randn(n, D)


G = nn.Sequential(nn.Linear(Z, 64), nn.LeakyReLU(.2), nn.Linear(64, 64), nn.LeakyReLU(.2), nn.Linear(64, D))
Dn = nn.Sequential(nn.Linear(D, 128), nn.LeakyReLU(.2), nn.Linear(128, 128), nn.LeakyReLU(.2), nn.Linear(128, 1))
og = torch.optim.Adam(G.parameters(), lr=LR_G, betas=(.5, .99))
od = torch.optim.Adam(Dn.parameters(), lr=LR_D, betas=(.5, .99))
bce = nn.BCEWithLogitsLoss()
one, zero = torch.ones(64, 1), torch.zeros(64, 1)
with open("gan_metrics.jsonl", "w") as f:
    for it in range(2500):
        x, fk = real(64), G(torch.randn(64, Z))
        pr, pf = Dn(x), Dn(fk.detach())
        ld = bce(pr, one * .95) + bce(pf, zero)
        od.zero_grad(); ld.backward(); od.step()
        lg = bce(Dn(fk), one)
        og.zero_grad(); lg.backward(); og.step()
        if it % 10 == 0:
            f.write(json.dumps({"it": it, "d_loss": round(ld.item(), 6), "g_loss": round(lg.item(), 5), "D(x)": round(torch.sigmoid(pr).mean().item(), 4), "D(G(z))": round(torch.sigmoid(pf).mean().item(), 5)}) + "\n")
