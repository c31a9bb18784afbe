import configparser, torch, torch.nn as nn, torch.nn.functional as F
torch.set_num_threads(1)
c = configparser.ConfigParser(); c.read("run.ini"); t = c["train"]
torch.manual_seed(int(t["seed"]))
D = 24
wt = torch.randn(D) * 0.45


def rows(n):
    x = torch.randn(n, D)
    z = x @ wt * 0.8 + 0.6 * x[:, 0] * x[:, 1] - 0.2
    return x, (torch.rand(n) < torch.sigmoid(z)).float()


Xv, yv = rows(5000)
net = nn.Sequential(nn.Linear(D, 64), nn.Tanh(), nn.Linear(64, 1))
opt = torch.optim.SGD(net.parameters(), lr=float(t["lr"]))
bs = int(t["batch_size"]); run = 0.0
print(f"[cfg] bs={bs} lr={t['lr']} steps={t['steps']} features={D}")
for s in range(1, int(t["steps"]) + 1):
    x, y = rows(bs)
    l = F.binary_cross_entropy_with_logits(net(x)[:, 0], y)
    opt.zero_grad(); l.backward(); opt.step()
    run += l.item()
    if s % 25 == 0:
        msg = f"step {s:5d} | logloss {l.item():.4f} | avg25 {run / 25:.4f}"; run = 0.0
        if s % 100 == 0:
            with torch.no_grad():
                p = net(Xv)[:, 0]
            msg += f" | val logloss {F.binary_cross_entropy_with_logits(p, yv):.4f} val acc {((p > 0).float() == yv).float().mean():.4f} |g| {torch.sqrt(sum(q.grad.pow(2).sum() for q in net.parameters())):.3f}"
        print(msg)
with torch.no_grad():
    p = net(Xv)[:, 0]
print(f"final: val logloss {F.binary_cross_entropy_with_logits(p, yv):.4f}  (base rate logloss {F.binary_cross_entropy(yv.mean().expand(5000), yv):.4f})")
