import copy, math
import torch, torch.nn as nn, yaml

conf = yaml.safe_load(open('conf.yaml'))
torch.manual_seed(99)
dtype, scale = getattr(torch, conf['dtype']), conf['loss_scale']
w = conf['width']
net = nn.Sequential(nn.Linear(3, w), nn.Tanh(), nn.Linear(w, w), nn.Tanh(), nn.Linear(w, 1))
low = copy.deepcopy(net).to(dtype)
opt = torch.optim.Adam(net.parameters(), lr=conf['lr'])


def deflection(x):
    """clamped beam, load at a, position s: millimetres"""
    s, a, q = (x.t() + 1) / 2
    return (q * torch.where(s < a, s ** 2 * (3 * a - s), a ** 2 * (3 * s - a)) * 2)[:, None]


print(conf)
for i in range(conf['steps']):
    x = torch.rand(256, 3) * 2 - 1
    y = deflection(x)
    for l, p in zip(low.parameters(), net.parameters()):
        l.data.copy_(p.data)
    loss = ((low(x.to(dtype)).float() - y) * 1e-3).square().mean()   # SI
    low.zero_grad()
    (loss * scale).backward()
    for l, p in zip(low.parameters(), net.parameters()):
        p.grad = l.grad.float() / scale
    gn = nn.utils.get_total_norm([p.grad for p in net.parameters()]).item()
    opt.step()
    if i % 10 == 0:
        print(f'it {i:5d} mse {loss.item():.4e} relerr {1e3 * math.sqrt(loss.item() / y.var().item()):.3f} gnorm {gn:.3e}')
