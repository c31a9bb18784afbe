"""REINFORCE with a learned baseline on a hand-written CartPole (cap 200 steps, 16 parallel poles)."""
import csv
import numpy as np
import torch
from torch import nn

torch.manual_seed(2)
rng = np.random.default_rng(2)
N, CAP, UPDATES, GAMMA = 16, 200, 90, 0.99
pi = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
vf = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam([{"params": pi.parameters(), "lr": 0.01}, {"params": vf.parameters(), "lr": 0.02}])


def step(s, a):
    x, v, th, w = s.T
    f = np.where(a == 1, 10.0, -10.0)
    c, sn = np.cos(th), np.sin(th)
    t = (f + 0.05 * w ** 2 * sn) / 1.1
    acc = (9.8 * sn - c * t) / (0.5 * (4 / 3 - 0.1 * c ** 2 / 1.1))
    xa = t - 0.05 * acc * c / 1.1
    n = np.stack([x + 0.02 * v, v + 0.02 * xa, th + 0.02 * w, w + 0.02 * acc], 1)
    return n, (np.abs(n[:, 0]) > 2.4) | (np.abs(n[:, 2]) > 0.209)


out = csv.writer(open("progress.csv", "w"))
out.writerow(["update", "ep_return_mean", "ep_return_min", "ep_return_max", "policy_loss", "value_loss", "entropy"])
for u in range(UPDATES):
    s = rng.uniform(-0.05, 0.05, (N, 4))
    alive = np.ones(N, bool)
    S, A, M = [], [], []
    for _ in range(CAP):
        with torch.no_grad():
            a = torch.distributions.Categorical(logits=pi(torch.tensor(s, dtype=torch.float32))).sample().numpy()
        S.append(s); A.append(a); M.append(alive.copy())
        s, dead = step(s, a)
        alive &= ~dead
        s = np.where(alive[:, None], s, 0.0)
        if not alive.any():
            break
    M = np.array(M, dtype=np.float32)
    R = np.zeros_like(M)
    acc = np.zeros(N, dtype=np.float32)
    for t in reversed(range(len(M))):
        acc = M[t] * (1 + GAMMA * acc)
        R[t] = acc
    m = torch.tensor(M.flatten()) > 0
    S = torch.tensor(np.array(S), dtype=torch.float32).reshape(-1, 4)[m]
    A = torch.tensor(np.array(A)).flatten()[m]
    R = torch.tensor(R.flatten())[m] / 10
    d = torch.distributions.Categorical(logits=pi(S))
    v = vf(S).squeeze(1)
    adv = R - v.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-6)
    pl, vl = -(d.log_prob(A) * adv).mean(), (v - R).pow(2).mean()
    opt.zero_grad()
    (pl + 0.5 * vl - 0.003 * d.entropy().mean()).backward()
    opt.step()
    ret = M.sum(0)
    out.writerow([u, f"{ret.mean():.1f}", int(ret.min()), int(ret.max()), f"{pl.item():.4f}", f"{vl.item():.4f}", f"{d.entropy().mean().item():.4f}"])
