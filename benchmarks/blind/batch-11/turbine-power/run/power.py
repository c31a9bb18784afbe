# predicts wind turbine power (kW / rated) from 12 SCADA channels
import torch, torch.nn as nn
torch.manual_seed(0); torch.set_num_threads(1)

def init(m):
    if isinstance(m, nn.Linear):
        nn.init.kaiming_normal_(m.weight)
        nn.init.constant_(m.bias, -12.0)

acts = {}
net = nn.Sequential(nn.Linear(12, 80), nn.ReLU(), nn.Linear(80, 80), nn.ReLU(), nn.Linear(80, 1))
net[:4].apply(init)
for k in (1, 3):
    net[k].register_forward_hook(lambda m, i, o, k=k: acts.__setitem__(k, o.detach()))

g = torch.Generator().manual_seed(1)
X = torch.randn(4000, 12, generator=g)
Y = (torch.sigmoid(X[:, :4].sum(1, keepdim=True)) + 0.3 * torch.sin(2 * X[:, 5:6]) * X[:, 6:7])
Y = (Y - Y.mean()) / Y.std()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(15):
    s = 0
    for b in torch.randperm(3500).split(50):
        loss = nn.functional.mse_loss(net(X[b]), Y[b])
        opt.zero_grad(); loss.backward(); opt.step()
        s += loss.item() * len(b) / 3500
    with torch.no_grad():
        v = nn.functional.mse_loss(net(X[3500:]), Y[3500:]).item()
    dead = {k: (a <= 0).all(0).float().mean().item() for k, a in acts.items()}
    g1 = net[0].weight.grad.norm().item()
    print(f"ep{epoch:02d} mse={s:.4f} val={v:.4f} never_active: h1={dead[1]:.0%} h2={dead[3]:.0%} |dW1|={g1:.1e}")
