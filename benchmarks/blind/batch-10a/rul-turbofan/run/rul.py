"""Remaining useful life of turbofan engines, MLP on 14 sensors."""
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(21)
X = torch.randn(5000, 14)
wear = torch.sigmoid(X[:, :7].sum(1) * 0.6) + 0.3 * X[:, 7] * X[:, 8]
RUL = 60 + 25 * (wear - wear.mean()) / wear.std() + 2 * torch.randn(5000)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(14, 64)
        self.fc2 = nn.Linear(64, 32)
        self.out = nn.Linear(32, 1)
        self.silent = 0.0

    def forward(self, x):
        h1 = torch.relu(self.fc1(x))
        h2 = torch.relu(self.fc2(h1))
        self.silent = (h2 <= 0).all(0).float().mean().item()
        return self.out(h2).squeeze(1)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
for step in range(1, 1501):
    idx = torch.randint(4500, (64,))
    loss = nn.functional.mse_loss(net(X[idx]), RUL[idx])
    opt.zero_grad()
    loss.backward()
    g1, g2 = net.fc1.weight.grad.norm().item(), net.fc2.weight.grad.norm().item()
    opt.step()
    if step <= 10 or step % 50 == 0:
        print(f"step {step:4d} mse {loss.item():.2f} grad fc1 {g1:.3g} fc2 {g2:.3g} inactive(fc2) {net.silent:.2f}")
    if step % 500 == 0:
        with torch.no_grad():
            p = net(X[4500:])
        print(f"  test rmse {(p - RUL[4500:]).pow(2).mean().sqrt():.2f} cycles, pred min/max {p.min():.2f}/{p.max():.2f}")
