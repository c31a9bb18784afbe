"""Behaviour cloning of the guard NPC from recorded play sessions."""
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
ACTIONS = ["idle", "patrol", "chase", "shoot", "flee"]


def record_sessions(n, seed):
    r = np.random.default_rng(seed)
    dist, hp, ammo, ang, alert = r.uniform(-1, 1, (5, n))
    a = np.where(alert < -0.3, 0, 1)
    a = np.where((alert > 0) & (dist < 0.4), 2, a)
    a = np.where((alert > 0) & (np.abs(ang) < 0.5) & (ammo > -0.5), 3, a)
    a = np.where((hp < -0.4) & (alert > -0.3), 4, a)
    return torch.tensor(np.stack([dist, hp, ammo, ang, alert], 1), dtype=torch.float32), torch.tensor(a)


class Brain(nn.Module):
    def __init__(self, depth=10, width=48):
        super().__init__()
        dims = [5] + [width] * depth
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims[:-1], dims[1:]))
        self.out = nn.Linear(width, len(ACTIONS))

    def forward(self, x):
        for layer in self.layers:
            x = torch.sigmoid(layer(x))
        return self.out(x)


x, y = record_sessions(6000, 1)
xv, yv = record_sessions(1000, 2)
net = Brain()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
crit = nn.CrossEntropyLoss()
for epoch in range(20):
    for idx in torch.randperm(len(x)).split(64):
        loss = crit(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    grads = " ".join(f"{l.weight.grad.norm():.1e}" for l in list(net.layers)[::3] + [net.out])
    with torch.no_grad():
        o = net(xv)
    print(f"[{epoch:02d}] loss {loss.item():.4f}  val {crit(o, yv).item():.4f}  acc {(o.argmax(1) == yv).float().mean():.3f}  |grad| layers.0/3/6/9/out: {grads}")
