import numpy as np, torch, torch.nn as nn
torch.manual_seed(3)
d = np.load("data/ratings.npz")
u, i, r = torch.tensor(d["u"]), torch.tensor(d["i"]), torch.tensor(d["r"])
tr, te = slice(0, 34000), slice(34000, None)


class MF(nn.Module):
    def __init__(self, n_u, n_i, k=8):
        super().__init__()
        self.P, self.Q = nn.Embedding(n_u, k), nn.Embedding(n_i, k)
        self.bu, self.bi = nn.Embedding(n_u, 1), nn.Embedding(n_i, 1)
        self.mu = nn.Parameter(torch.zeros(1))
        for e in (self.P, self.Q):
            nn.init.normal_(e.weight, 0, 0.1)
        for e in (self.bu, self.bi):
            nn.init.zeros_(e.weight)

    def forward(self, u, i):
        return self.mu + self.bu(u).squeeze(1) + self.bi(i).squeeze(1) + (self.P(u) * self.Q(i)).sum(1)


LR = 0.4
N_EPOCHS = 30
model = MF(500, 320)
opt = torch.optim.SGD(model.parameters(), lr=LR, weight_decay=2e-5)
sched = torch.optim.lr_scheduler.MultiStepLR(opt, [18, 25], 0.2)
rmse = lambda a, b: ((a - b) ** 2).mean().sqrt().item()
print("global-mean RMSE: %.4f" % rmse(r[tr].mean(), r[te]))
for ep in range(N_EPOCHS):
    for b in torch.randperm(34000).split(64):
        pred = model(u[b], i[b])
        loss = ((pred - r[b]) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        g = torch.sqrt(sum(p.grad.pow(2).sum() for p in model.parameters()))
        w = torch.sqrt(sum(p.detach().pow(2).sum() for p in model.parameters()))
        opt.step()
    sched.step()
    with torch.no_grad():
        print("epoch %2d  train rmse %.4f  test rmse %.4f  mu %.3f  update/weight %.1e" % (ep, rmse(model(u[tr], i[tr]), r[tr]), rmse(model(u[te], i[te]), r[te]), model.mu.item(), LR * g / w))
