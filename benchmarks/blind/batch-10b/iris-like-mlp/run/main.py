import torch
import torch.nn.functional as F

from model import build

torch.manual_seed(42)
centers = torch.randn(4, 6) * 2
y = torch.randint(0, 4, (1200,))
x = centers[y] + 0.7 * torch.randn(1200, 6)
net = build(6, 32, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(1, 51):
    for idx in torch.randperm(1000).split(20):
        loss = F.cross_entropy(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 5 == 0:
        with torch.no_grad():
            out = net(x[1000:])
            print(f"epoch {epoch:3d}  test loss {F.cross_entropy(out, y[1000:]):.4f}  test acc {(out.argmax(1) == y[1000:]).float().mean():.3f}")
