import torch
from mp import EnergyNet
torch.manual_seed(10); torch.set_num_threads(1)
n, k = 1500, 9
z = torch.randint(5, (n, k))
pos = torch.randn(n, k, 3) * 1.3
with torch.no_grad():
    d = torch.cdist(pos, pos) + torch.eye(k) * 9
    e = (torch.exp(-d) * (1 + z[:, :, None] + z[:, None])).sum((1, 2)) / 4
    e = (e - e.mean()) / e.std()
net = EnergyNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for ep in range(20):
    for i, b in enumerate(torch.randperm(1200).split(60)):
        loss = ((net(z[b], pos[b]) - e[b]) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 5 == 4:
            print("ep", ep, "b", i, "|", "L2", round(loss.item(), 5))
    with torch.no_grad():
        print("ep", ep, "test MAE", round((net(z[1200:], pos[1200:]) - e[1200:]).abs().mean().item(), 5))
