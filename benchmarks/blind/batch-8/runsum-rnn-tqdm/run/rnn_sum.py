import torch
import torch.nn as nn
import torch.nn.functional as F
from tqdm import tqdm

torch.manual_seed(5)
T, H, BS = 60, 48, 32


class RNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(1, H)
        self.rec = nn.Linear(H, H, bias=False)
        self.head = nn.Linear(H, 1)
        nn.init.eye_(self.rec.weight)
        self.rec.weight.data.mul_(0.7)

    def forward(self, x):
        h = x.new_zeros(len(x), H)
        out = []
        for t in range(x.size(1)):
            h = F.leaky_relu(self.inp(x[:, t]) + self.rec(h), 0.6)
            out.append(self.head(h))
        return torch.stack(out, 1)


def get_batch():
    x = torch.randn(BS, T, 1) * 0.3
    return x, x.cumsum(1) * 0.5


net = RNN()
opt = torch.optim.SGD(net.parameters(), lr=0.005, momentum=0.9)
for ep in range(4):
    bar = tqdm(range(25), desc=f"epoch {ep}")
    s = 0.0
    for it in bar:
        x, y = get_batch()
        loss = (net(x) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        g = torch.cat([p.grad.flatten() for p in net.parameters()]).norm().item()
        opt.step()
        s += loss.item()
        bar.set_postfix(mse=loss.item(), g=g)
        tqdm.write(f"[{ep}:{it:02d}] mse {loss.item():.4f} |g| {g:.3e}")
    print(f"epoch {ep} avg mse {s / 25:.4f}")
