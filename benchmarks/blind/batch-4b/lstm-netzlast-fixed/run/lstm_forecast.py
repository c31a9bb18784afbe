import numpy as np
import pandas as pd
import torch
import torch.nn as nn

torch.manual_seed(1)
df = pd.read_csv("data/energy.csv")
v = df["load_mw"].values.astype(np.float32)
n_train = 4800
v = (v - v[:n_train].mean()) / v[:n_train].std()
LOOKBACK = 24
X = torch.tensor(np.stack([v[i:i + LOOKBACK] for i in range(len(v) - LOOKBACK)]))[..., None]
Y = torch.tensor(v[LOOKBACK:])[:, None]
X_train, Y_train, X_test, Y_test = X[:n_train - LOOKBACK], Y[:n_train - LOOKBACK], X[n_train - LOOKBACK:], Y[n_train - LOOKBACK:]


class LoadForecaster(nn.Module):
    def __init__(self, hidden_size=32):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden_size, batch_first=True)
        self.linear = nn.Linear(hidden_size, 1)

    def forward(self, x):
        x, _ = self.lstm(x)
        return self.linear(x[:, -1])


model = LoadForecaster()
print(model)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 25)
loss_fn = nn.MSELoss()
A = lambda t: torch.cat([t[..., 0], torch.ones(len(t), 1)], 1)
w = torch.linalg.lstsq(A(X_train), Y_train).solution
print("baseline: linear regression on the %d lags, test RMSE %.4f" % (LOOKBACK, loss_fn(A(X_test) @ w, Y_test).sqrt()))
for epoch in range(25):
    model.train()
    for i in torch.randperm(len(X_train)).split(64):
        loss = loss_fn(model(X_train[i]), Y_train[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    sched.step()
    model.eval()
    with torch.no_grad():
        tr = loss_fn(model(X_train), Y_train).sqrt()
        te = loss_fn(model(X_test), Y_test).sqrt()
    print("Epoch %d: train RMSE %.4f, test RMSE %.4f" % (epoch, tr, te))
