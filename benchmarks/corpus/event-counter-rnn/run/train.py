"""Elman network that has to count events in a binary stream (check of the recurrent cell)."""
import csv
import torch
from torch import nn

torch.manual_seed(5)
T, H, BATCH, STEPS, LR = 80, 24, 32, 1500, 0.006


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(1, H, nonlinearity="relu", batch_first=True)
        self.out = nn.Linear(H, 1)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h)


net = Counter()
opt = torch.optim.SGD(net.parameters(), lr=LR, momentum=0.9)
out = csv.writer(open("history.csv", "w"))
out.writerow(["step", "mse", "gnorm", "wnorm_hh"])
for step in range(STEPS):
    x = (torch.rand(BATCH, T, 1) < 0.1).float()
    y = x.cumsum(1) / 4
    loss = (net(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    gnorm = torch.sqrt(sum((q.grad ** 2).sum() for q in net.parameters()))
    opt.step()
    if step % 2 == 0:
        out.writerow([step, f"{loss.item():.6g}", f"{gnorm.item():.6g}", f"{net.rnn.weight_hh_l0.norm().item():.4f}"])
