import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"


def scans(n):
    mask = torch.zeros(n, 1, 24, 24)
    for i in range(n):
        r, c = torch.randint(2, 14, (2,))
        mask[i, :, r:r + 8, c:c + 8] = 1
    return (mask + 0.7 * torch.randn_like(mask)), mask


class Seg(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(1, 16, 3, padding=1)
        self.b = nn.Conv2d(16, 16, 3, padding=1)
        self.c = nn.Conv2d(16, 1, 1)

    def forward(self, x):
        return self.c(F.relu(self.b(F.relu(self.a(x)))))


net = Seg().to(device).half()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(1, 201):
    x, y = scans(16)
    x, y = x.to(device).half(), y.to(device).half()
    loss = F.binary_cross_entropy_with_logits(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step <= 5 or step % 20 == 0:
        print(f"step {step:4d} loss {loss.item():.4f}", flush=True)
