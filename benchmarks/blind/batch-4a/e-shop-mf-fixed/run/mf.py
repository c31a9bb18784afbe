"""matrix factorisation on the shop ratings, RMSE"""
import json, sys
import torch, torch.nn as nn
torch.set_num_threads(1)
cfg = json.load(open("mf_config.json"))
torch.manual_seed(cfg["seed"])
U, I, K = 600, 400, 4
pu, qi = torch.randn(U, K), torch.randn(I, K)
bu, bi = torch.randn(U) * 0.4, torch.randn(I) * 0.5
n = 66000
u, i = torch.randint(0, U, (n,)), torch.randint(0, I, (n,))
r = (3.5 + bu[u] + bi[i] + 0.35 * (pu[u] * qi[i]).sum(1) + 0.4 * torch.randn(n))
tr, va = slice(0, 60000), slice(60000, n)


class MF(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.P, self.Q = nn.Embedding(U, d), nn.Embedding(I, d)
        self.bu, self.bi = nn.Embedding(U, 1), nn.Embedding(I, 1)
        for e in (self.P, self.Q): nn.init.normal_(e.weight, std=0.1)
        for e in (self.bu, self.bi): nn.init.zeros_(e.weight)
        self.mu = nn.Parameter(torch.tensor(3.5))

    def forward(self, u, i):
        return self.mu + self.bu(u)[:, 0] + self.bi(i)[:, 0] + (self.P(u) * self.Q(i)).sum(1)


m = MF(cfg["factors"])
opt = torch.optim.Adam(m.parameters(), lr=cfg["lr"])
out = open("history.jsonl", "w")
for ep in range(1, cfg["epochs"] + 1):
    for gr in opt.param_groups: gr["lr"] = cfg["lr"] * (1 - 0.95 * (ep - 1) / cfg["epochs"])
    se = 0.0
    for k in torch.randperm(60000).split(512):
        e = m(u[tr][k], i[tr][k]) - r[tr][k]
        reg = (m.P(u[tr][k]).pow(2).sum(1) + m.Q(i[tr][k]).pow(2).sum(1)).mean()
        loss = e.pow(2).mean() + cfg["reg"] * reg
        opt.zero_grad(); loss.backward(); opt.step()
        se += e.detach().pow(2).sum().item()
    with torch.no_grad():
        v = (m(u[va], i[va]) - r[va]).pow(2).mean().sqrt().item()
    out.write(json.dumps({"epoch": ep, "train_rmse": round((se / 60000) ** 0.5, 4), "valid_rmse": round(v, 4)}) + "\n")
