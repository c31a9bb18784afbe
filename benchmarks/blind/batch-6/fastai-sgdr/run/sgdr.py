import math, torch, torch.nn as nn, torch.nn.functional as F
from mydata import img
torch.manual_seed(9)
x, y = img(3000, k=10, noise=3.0, seed=1); xv, yv = img(1000, k=10, noise=3.0, seed=2)
net = nn.Sequential(nn.Flatten(), nn.Dropout(.3), nn.Linear(100, 40), nn.ReLU(), nn.Linear(40, 10))
opt = torch.optim.SGD(net.parameters(), lr=.1, momentum=.9, weight_decay=2e-2)
cycle, left = 4, 4
print(f"{'epoch':8}{'train_loss':12}{'valid_loss':12}{'accuracy':10}{'lr_end':10}time")
pos = 0
for ep in range(28):
    net.train(); t = 0
    for b, i in enumerate(torch.randperm(3000).split(60)):
        lr = .05 * .5 * (1 + math.cos(math.pi * (pos + b / 50) / cycle))
        for g in opt.param_groups: g["lr"] = lr
        l = F.cross_entropy(net(x[i]), y[i]); opt.zero_grad(); l.backward(); opt.step(); t += l.item() / 50
    pos += 1
    net.eval()
    with torch.no_grad(): o = net(xv)
    print(f"{ep:<8}{t:<12.6f}{F.cross_entropy(o, yv).item():<12.6f}{(o.argmax(1) == yv).float().mean().item():<10.6f}{lr:<10.5f}00:0{1 + ep % 2}")
    if pos == cycle: pos, cycle = 0, cycle * 2
