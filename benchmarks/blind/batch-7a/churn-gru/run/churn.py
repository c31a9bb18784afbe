"""Predict churn from the last 30 events of a customer."""
import torch
from torch import nn

torch.manual_seed(1)
N_TRAIN = 300


def customers(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randint(0, 40, (n, 30), generator=g)
    score = (x < 6).float().sum(1) - 0.8 * (x > 34).float().sum(1) + 0.8 * torch.randn(n, generator=g)
    return x, (score > 0.4).float()


class ChurnGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(40, 32)
        self.gru = nn.GRU(32, 96, batch_first=True)
        self.out = nn.Linear(96, 1)

    def forward(self, x):
        return self.out(self.gru(self.emb(x))[0].mean(1)).squeeze(1)


xtr, ytr = customers(N_TRAIN, 1)
xva, yva = customers(800, 2)
model = ChurnGRU()
crit = nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for ep in range(1, 26):
    model.train()
    tl = 0.0
    for idx in torch.randperm(len(xtr)).split(30):
        loss = crit(model(xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tl += loss.item() * len(idx) / len(xtr)
    model.eval()
    with torch.no_grad():
        o = model(xva)
        print(f"[{ep:02d}/25] loss={tl:.4f} val_loss={crit(o, yva).item():.4f} val_acc={((o > 0) == (yva > 0.5)).float().mean().item():.3f}")
