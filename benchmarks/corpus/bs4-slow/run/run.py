import torch, torch.nn as nn, torch.nn.functional as F, yaml
c = yaml.safe_load(open('cfg.yaml'))
torch.manual_seed(6)
P = torch.randn(8, 24) * .55
def get(n):
    y = torch.randint(8, (n,)); return P[y] + torch.randn(n, 24) * .8, y
net = nn.Sequential(nn.Linear(24, 40), nn.Tanh(), nn.Linear(40, 8))
opt = torch.optim.SGD(net.parameters(), lr=c['lr'], momentum=.9)
vx, vy = get(2000)
for s in range(1, c['steps'] + 1):
    x, y = get(c['batch_size']); l = F.cross_entropy(net(x), y); opt.zero_grad(); l.backward(); opt.step()
    if s % c['log_every'] == 0: print(f'{s} {l.item():.4f}')
    if s % 500 == 0:
        with torch.no_grad(): o = net(vx); print(f'== eval @ {s}: loss {F.cross_entropy(o, vy).item():.4f} acc {(o.argmax(1) == vy).float().mean().item():.4f}')
