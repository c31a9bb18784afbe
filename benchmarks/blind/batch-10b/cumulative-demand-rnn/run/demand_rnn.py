"""Predict the running total of a demand signal with a small hand-written RNN."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)
T, H = 60, 32


class LeakyRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(1, H)
        self.rec = nn.Linear(H, H, bias=False)
        nn.init.orthogonal_(self.rec.weight)
        self.rec.weight.data.mul_(0.9)
        self.out = nn.Linear(H, 1)

    def forward(self, x):
        h = x.new_zeros(len(x), H)
        ys = []
        for t in range(x.size(1)):
            h = F.leaky_relu(self.inp(x[:, t]) + self.rec(h), 0.3)
            ys.append(self.out(h))
        return torch.stack(ys, 1)


model = LeakyRNN()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for it in range(1, 201):
    x = torch.rand(32, T, 1)
    y = 0.1 * x.cumsum(1)
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    gnorm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
    optimizer.step()
    print(f"it {it:3d} loss {loss.item():.4f} grad norm {gnorm:.3e}", flush=True)
