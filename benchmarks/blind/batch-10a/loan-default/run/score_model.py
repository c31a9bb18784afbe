import json
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(2024)
rng = np.random.default_rng(2024)

# synthetic copy of the retail portfolio (features already z-scored by the feature store)
COLS = ["income", "util", "age", "tenure", "n_inq", "dti", "ltv", "bal"]
X = rng.normal(size=(12000, len(COLS))).astype("float32")
z = 2.2 * X[:, 1] * X[:, 5] - 1.6 * np.abs(X[:, 0]) + 1.4 * X[:, 6] * X[:, 4] + 1.2 + 1.3 * X[:, 3] - 0.9 * X[:, 7]
Y = (rng.random(12000) < 1 / (1 + np.exp(-2 * z))).astype("float32")
X, Y = torch.tensor(X), torch.tensor(Y)
tr, va = slice(0, 10000), slice(10000, None)

model = nn.Sequential(nn.Linear(len(COLS), 1))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
bce = nn.BCEWithLogitsLoss()


def auc(s, t):
    r = s.argsort().argsort().float() + 1
    p = t.sum()
    return ((r[t > 0].sum() - p * (p + 1) / 2) / (p * (len(t) - p))).item()


hist = []
for ep in range(40):
    tot = 0.0
    for idx in torch.randperm(10000).split(128):
        loss = bce(model(X[tr][idx]).squeeze(1), Y[tr][idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(idx) / 10000
    with torch.no_grad():
        s_tr, s_va = model(X[tr]).squeeze(1), model(X[va]).squeeze(1)
    hist.append(dict(epoch=ep, train_loss=round(tot, 5), valid_loss=round(bce(s_va, Y[va]).item(), 5), train_auc=round(auc(s_tr, Y[tr]), 4), valid_auc=round(auc(s_va, Y[va]), 4)))
json.dump(hist, open("history.json", "w"), indent=1)
