import time, argparse
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
ap = argparse.ArgumentParser()
ap.add_argument("--lr", type=float, default=0.03)
ap.add_argument("--hidden", type=int, default=40)
ap.add_argument("--horizon", type=int, default=40)
ap.add_argument("--iters", type=int, default=900)
ap.add_argument("--max-norm", type=float, default=0.0)
a = ap.parse_args([])
torch.manual_seed(4)
print("host node17  job 884120  args", vars(a), flush=True)


def batch(n, T, g):
    """two tanks: inflow -> level, roll the learned residual model forward over the whole horizon"""
    u = g.uniform(0, 1, (n, T, 1)).astype("float32")
    h = np.zeros((n, T + 1, 2), "float32")
    h[:, 0] = g.uniform(0.2, 1, (n, 2))
    for t in range(T):
        q1 = 0.6 * np.sqrt(h[:, t, 0]); q2 = 0.5 * np.sqrt(h[:, t, 1])
        h[:, t + 1, 0] = np.maximum(h[:, t, 0] + 0.2 * (u[:, t, 0] - q1), 0)
        h[:, t + 1, 1] = np.maximum(h[:, t, 1] + 0.2 * (q1 - q2), 0)
    return torch.from_numpy(u), torch.from_numpy(h)


class Roll(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(3, k), nn.ReLU(), nn.Linear(k, k), nn.ReLU(), nn.Linear(k, 2))
        self.f[-1].weight.data *= 0.1
        self.f[-1].bias.data *= 0.1

    def forward(self, h0, u):
        h, out = h0, []
        for t in range(u.shape[1]):
            h = h + self.f(torch.cat([h, u[:, t]], 1))
            out.append(h)
        return torch.stack(out, 1)


g = np.random.default_rng(0)
net = Roll(a.hidden)
opt = torch.optim.SGD(net.parameters(), lr=a.lr, momentum=0.5)
warm = 300
sch = torch.optim.lr_scheduler.LambdaLR(opt, lambda k: (k + 1) / warm if k < warm else 0.5 * (1 + np.cos(np.pi * (k - warm) / (a.iters - warm))))
uv, hv = batch(128, a.horizon, np.random.default_rng(9))
for it in range(a.iters):
    T = a.horizon
    u, h = batch(32, T, g)
    loss = (net(h[:, 0], u) - h[:, 1:]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    gn = torch.nn.utils.clip_grad_norm_(net.parameters(), a.max_norm if a.max_norm > 0 else float("inf")).item()
    opt.step()
    sch.step()
    if it < 400 or it % 5 == 0:
        print(f"[{time.strftime('%H:%M:%S')}] it {it:5d} | rollout_mse {loss.item():.5g} | gnorm {gn:.4g} | lr {sch.get_last_lr()[0]:.3g}", flush=True)
    if it % 200 == 199:
        with torch.no_grad():
            print(f"[{time.strftime('%H:%M:%S')}] it {it:5d} | VAL rollout_mse {(net(hv[:, 0], uv) - hv[:, 1:]).pow(2).mean().item():.5g}", flush=True)
    if not np.isfinite(loss.item()) and it > 100:
        print("loss is not finite, giving up", flush=True)
        break
