import torch, torch.nn as nn
from prep import tab

torch.manual_seed(2024)
X, z = tab(4000, d=14, seed=1, reg=True, noise=.2)
Xv, zv = tab(1000, d=14, seed=2, reg=True, noise=.2)
sales, sales_v = torch.relu(z * 3), torch.relu(zv * 3)      # many zero-sales days

net = nn.Sequential(nn.Linear(14, 64), nn.ReLU(), nn.Linear(64, 1))

def predict(x):
    return nn.functional.softplus(net(x).squeeze(1))

def rmsle(pred, y):
    return torch.sqrt(torch.mean((torch.log1p(pred) - torch.log1p(y)) ** 2))

opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(20):
    tot = 0
    for b, idx in enumerate(torch.randperm(4000).split(100)):
        loss = rmsle(predict(X[idx]), sales[idx])
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item()
        if b % 2 == 0 and epoch < 1 or b % 10 == 0:
            print(f'epoch {epoch} batch {b}/40 rmsle {loss.item():.5f}  pred range [{predict(X[idx]).min().item():.3f}, {predict(X[idx]).max().item():.3f}]')
    with torch.no_grad():
        print(f'=> epoch {epoch} train {tot/40:.5f} valid {rmsle(predict(Xv), sales_v).item():.5f}')
    if epoch == 12:
        for g in opt.param_groups: g['lr'] = 1e-3
