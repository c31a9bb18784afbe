import numpy as np, torch
from torch import nn

torch.manual_seed(10)
d = np.load("data/houses.npz")
X = torch.tensor(d["x"])
logp = torch.tensor(np.log(d["price"]))
y = ((logp - logp[:5000].mean()) / logp[:5000].std()).unsqueeze(1)
X_tr, X_te, y_tr, y_te = X[:5000], X[5000:], y[:5000], y[5000:]


class PriceNet(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.fc1 = nn.Linear(n_in, 64)
        self.fc2 = nn.Linear(64, 32)
        self.fc3 = nn.Linear(32, 1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


net = PriceNet(X.shape[1])
optimizer = torch.optim.Adam(net.parameters(), lr=0.003, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 40)
criterion = nn.MSELoss()
for epoch in range(40):
    losses = []
    for idx in torch.randperm(len(X_tr)).split(128):
        optimizer.zero_grad()
        loss = criterion(net(X_tr[idx]), y_tr[idx])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    scheduler.step()
    with torch.no_grad():
        p = net(X_te)
        r2 = 1 - ((p - y_te) ** 2).sum() / ((y_te - y_te.mean()) ** 2).sum()
    print("[%02d] train mse %.4f  test mse %.4f  R2 %.4f  pred mean %.4f std %.4f max %.4f" % (epoch, np.mean(losses), criterion(p, y_te), r2, p.mean(), p.std(), p.max()))
