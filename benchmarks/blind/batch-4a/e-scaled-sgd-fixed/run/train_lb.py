import json, math, torch, torch.nn as nn, torch.nn.functional as F
torch.set_num_threads(1)
C = json.load(open("hp.json"))
torch.manual_seed(C["seed"])
K, D = 20, 64
proto = torch.randn(K, D)


def sample(n):
    y = torch.randint(0, K, (n,))
    return proto[y] + 1.2 * torch.randn(n, D), y


layers, d = [], D
for h in (192, 192, 192):
    layers += [nn.Linear(d, h), nn.ReLU()]
    d = h
net = nn.Sequential(*layers, nn.Linear(d, K))
for m in net:
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, std=2.1 / m.in_features ** 0.5)
peak = C["base_lr"] * C["global_batch"] / 64
opt = torch.optim.SGD(net.parameters(), lr=peak, momentum=0.9)
W, N = C["warmup_steps"], C["steps"]
xv, yv = sample(2000)
print(f"linear scaling rule: base_lr {C['base_lr']} x {C['global_batch']}/64 -> {peak:.4f}; warmup_steps {W}")
for s in range(N):
    lr = peak * ((s + 1) / W if s < W else 0.5 * (1 + math.cos(math.pi * (s - W) / (N - W))))
    for g in opt.param_groups:
        g["lr"] = lr
    x, y = sample(C["global_batch"])
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward()
    gn = torch.sqrt(sum(p.grad.pow(2).sum() for p in net.parameters()))
    opt.step()
    if s < 10 or s % 10 == 9:
        print(f"step {s + 1:4d}  lr {lr:.4f}  loss {loss.item():.4f}  gnorm {gn:.3f}")
    if s % 50 == 49:
        with torch.no_grad():
            o = net(xv)
        print(f"  eval @ {s + 1}: loss {F.cross_entropy(o, yv):.4f} top1 {100 * (o.argmax(1) == yv).float().mean():.2f}")
