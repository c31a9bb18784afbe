import numpy as np
import torch
torch.manual_seed(1); torch.set_num_threads(1); torch.set_default_dtype(torch.float64)
t = torch.linspace(0, 3, 60)[:, None]
u = torch.exp(-.4 * t) * torch.cos(3 * t)
net = torch.nn.Sequential(torch.nn.Linear(1, 24), torch.nn.Tanh(), torch.nn.Linear(24, 24), torch.nn.Tanh(), torch.nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for i in range(9000):
    l = ((net(t) - u) ** 2).mean()
    opt.zero_grad(); l.backward(); opt.step()
    if i % 10 == 0:
        print(f"{i:>6d}   {l.item():.6e}")
