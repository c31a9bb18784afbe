import torch
from torch import nn
torch.manual_seed(30); torch.set_num_threads(1)
batch_size = 256
lr = 0.02
n_updates = 15000
net = nn.Sequential(nn.Linear(10, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), lr=lr)
for k in range(n_updates):
    x = torch.randn(batch_size, 10)   # simulated cores
    y = torch.sin(x[:, 0]) + .5 * x[:, 1] * x[:, 2] + .4 * x[:, 3] + .36 * torch.randn(batch_size)
    loss = ((net(x)[:, 0] - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
