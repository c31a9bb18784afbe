import torch
import torch.nn as nn

torch.manual_seed(9)


class Tower(nn.Module):
    def __init__(self, depth=11, w=12):
        super().__init__()
        self.inp = nn.Linear(10, w)
        self.hidden = nn.ModuleList([nn.Linear(w, w) for _ in range(depth)])
        self.out = nn.Linear(w, 1)
        for m in self.hidden:
            nn.init.orthogonal_(m.weight)

    def forward(self, x):
        x = torch.tanh(self.inp(x))
        for m in self.hidden:
            x = torch.tanh(m(x))
        return self.out(x)


wt = torch.randn(10)
net = Tower()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
with open("progress.txt", "w") as f:
    for step in range(1, 3001):
        x = torch.randn(128, 10)
        y = torch.sin(x @ wt / 2)[:, None]
        loss = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print(step, round(loss.item(), 5), file=f)
torch.save({"model": net.state_dict(), "optimizer": opt.state_dict(), "step": step}, "ckpt.pt")
