import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.kaiming_normal_(m.weight)
        nn.init.zeros_(m.bias)


net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
net.apply(init_weights)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
proto = torch.randn(10, 64)
for step in range(601):
    y = torch.randint(10, (64,))
    x = proto[y] + 1.5 * torch.randn(64, 64)
    out = net(x)
    loss = F.cross_entropy(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 5 == 0:
        print(f"[{step}] loss: {loss.item():.3f}  acc: {(out.argmax(1) == y).float().mean().item():.3f}")
