"""heating demand of a house (kWh/month) from 18 survey answers"""
import torch
from torch import nn
torch.manual_seed(21); torch.set_num_threads(1)
N_HOUSES = 140
HID = 256
g = torch.Generator().manual_seed(1)
w = torch.randn(18, generator=g)


def survey(n):
    x = torch.randn(n, 18, generator=g)
    y = 900 + 160 * (x @ w) / 2 + 120 * torch.tanh(2 * x[:, 0] * x[:, 1]) + 110 * torch.randn(n, generator=g)
    return x, y


x, y = survey(N_HOUSES)
xv, yv = survey(400)
net = nn.Sequential(nn.Linear(18, HID), nn.ReLU(), nn.Linear(HID, HID), nn.ReLU(), nn.Linear(HID, 1))
nn.init.constant_(net[-1].bias, 900.)
opt = torch.optim.Adam(net.parameters(), lr=1.5e-3)
STEPS_PER_ROW = 25
print("| row | mse (fit) | mse (other houses) | mae (other houses) |")
print("|-----|-----------|--------------------|--------------------|")
for row in range(1, 49):
    tot = 0
    for _ in range(STEPS_PER_ROW):
        b = torch.randint(N_HOUSES, (32,))
        loss = ((net(x[b])[:, 0] - y[b]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item() / STEPS_PER_ROW
    with torch.no_grad():
        e = net(xv)[:, 0] - yv
    print(f"| {row:3d} | {tot:9.1f} | {(e ** 2).mean():18.1f} | {e.abs().mean():18.2f} |")
