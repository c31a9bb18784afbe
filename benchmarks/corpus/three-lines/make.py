import torch
import torch.nn as nn

torch.manual_seed(1)
net = nn.Linear(10, 3)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
print("2025-05-02 09:14:03 INFO starting run 17")
for s in range(3):
    x = torch.randn(32, 10)
    l = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    opt.zero_grad()
    l.backward()
    opt.step()
    print(f"2025-05-02 09:14:0{4 + s} INFO step {s} loss {l.item():.4f}")
