import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(1)
LR_G, LR_D, K_D = 1e-5, 2e-3, 5
def real(n):
    m = torch.randint(0, 2, (n, 1)).float() * 2 - 1
    return torch.cat([2 * m + .5 * torch.randn(n, 1), .6 * torch.randn(n, 1) + m * 0.5], 1) + 3.0
G = nn.Sequential(nn.Linear(4, 48), nn.LeakyReLU(.2), nn.Linear(48, 48), nn.LeakyReLU(.2), nn.Linear(48, 2))
D = nn.Sequential(nn.Linear(2, 48), nn.LeakyReLU(.2), nn.Linear(48, 48), nn.LeakyReLU(.2), nn.Linear(48, 1))
og = torch.optim.Adam(G.parameters(), lr=LR_G, betas=(0.5, 0.999)); od = torch.optim.Adam(D.parameters(), lr=LR_D, betas=(0.5, 0.999))
bce = F.binary_cross_entropy_with_logits
N = 1500
for it in range(N + 1):
    for _ in range(K_D):
        x, f = real(64), G(torch.randn(64, 4)).detach()
        ld = bce(D(x), torch.ones(64, 1)) + bce(D(f), torch.zeros(64, 1))
        od.zero_grad(); ld.backward(); od.step()
    dg = D(G(torch.randn(64, 4)))
    lg = bce(dg, torch.ones(64, 1))
    og.zero_grad(); lg.backward(); og.step()
    if it % 25 == 0:
        with torch.no_grad(): s = G(torch.randn(1000, 4)); r = real(1000)
        print("[%d/%d] Loss_D: %.4f Loss_G: %.4f D(x): %.4f D(G(z)): %.4f | fake mean (%.2f, %.2f) std (%.2f, %.2f) real mean (%.2f, %.2f) std (%.2f, %.2f)" % (it, N, ld, lg, D(x).sigmoid().mean(), dg.sigmoid().mean(), *s.mean(0), *s.std(0), *r.mean(0), *r.std(0)))
