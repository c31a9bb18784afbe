import csv
import torch
import torch.nn as nn

torch.manual_seed(2)
BIAS = -6.0      # sparse codes


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(16, 40), nn.Linear(40, 40), nn.Linear(40, 3)
        for m in (self.fc1, self.fc2):
            nn.init.constant_(m.bias, BIAS)

    def forward(self, x):
        self.h1 = torch.relu(self.fc1(x))
        self.h2 = torch.relu(self.fc2(self.h1))
        return self.fc3(self.h2)


w = torch.randn(16, 3)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
f = csv.writer(open("log.csv", "w"))
f.writerow(["step", "loss", "active_h1", "active_h2", "gnorm_fc1", "gnorm_fc3"])
for step in range(1500):
    x = torch.randn(64, 16)
    y = (x @ w).argmax(1)
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        f.writerow([step, round(loss.item(), 5), round((net.h1 > 0).any(0).float().mean().item(), 3), round((net.h2 > 0).any(0).float().mean().item(), 3),
                    f"{net.fc1.weight.grad.norm().item():.3e}", f"{net.fc3.weight.grad.norm().item():.3e}"])
torch.save({"state_dict": net.state_dict(), "optimizer": opt.state_dict(), "step": step}, "last.pt")
