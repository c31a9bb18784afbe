import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
g = torch.Generator().manual_seed(0)
centres = torch.randn(10, 64, generator=g)


def make(n):
    y = torch.randint(10, (n,), generator=g)
    return centres[y] + 1.5 * torch.randn(n, 64, generator=g), y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 128)
        self.fc2 = nn.Linear(128, 128)
        self.fc3 = nn.Linear(128, 10)
        self.zeros = {}

    def forward(self, x):
        h1 = F.relu(self.fc1(x))
        h2 = F.relu(self.fc2(h1))
        self.zeros = {"fc1": (h1 == 0).all(0).float().mean().item(), "fc2": (h2 == 0).all(0).float().mean().item()}
        return self.fc3(h2)


x, y = make(6000)
xt, yt = make(1000)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
for epoch in range(1, 11):
    net.train()
    for b, idx in enumerate(torch.randperm(len(x)).split(60)):
        loss = F.cross_entropy(net(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if b % 25 == 0:
            z = net.zeros
            g1, g2 = net.fc1.weight.grad.norm().item(), net.fc2.weight.grad.norm().item()
            print(f"ep {epoch} it {b:3d} loss {loss.item():8.4f} | units silent on batch: fc1 {z['fc1']:.2f} fc2 {z['fc2']:.2f} | |g| fc1 {g1:.2e} fc2 {g2:.2e}")
    net.eval()
    with torch.no_grad():
        print(f"ep {epoch} test acc {(net(xt).argmax(1) == yt).float().mean().item():.3f}")
