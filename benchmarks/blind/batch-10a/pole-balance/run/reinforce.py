"""REINFORCE with baseline on a batch of cart-poles."""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)
N, HORIZON, GAMMA = 24, 200, 0.99


def step(s, a):
    x, v, th, om = s.T
    force = np.where(a == 1, 10.0, -10.0)
    tmp = (force + 0.05 * om ** 2 * np.sin(th)) / 1.1
    acc = (9.8 * np.sin(th) - np.cos(th) * tmp) / (0.5 * (4 / 3 - 0.1 * np.cos(th) ** 2 / 1.1))
    xa = tmp - 0.05 * acc * np.cos(th) / 1.1
    s = np.stack([x + 0.02 * v, v + 0.02 * xa, th + 0.02 * om, om + 0.02 * acc], 1)
    return s, (np.abs(s[:, 0]) > 2.4) | (np.abs(s[:, 2]) > 0.2095)


policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
value = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=1e-2)
for it in range(60):
    s = rng.uniform(-0.05, 0.05, (N, 4))
    alive = np.ones(N, bool)
    S, A, M = [], [], []
    for t in range(HORIZON):
        with torch.no_grad():
            a = torch.distributions.Categorical(logits=policy(torch.tensor(s, dtype=torch.float32))).sample().numpy()
        S.append(s.copy()), A.append(a), M.append(alive.copy())
        s, done = step(s, a)
        alive &= ~done
        if not alive.any():
            break
    M = np.array(M, dtype=np.float32)
    R = np.zeros_like(M)
    run = np.zeros(N)
    for t in reversed(range(len(M))):
        run = M[t] * (1 + GAMMA * run)
        R[t] = run
    S, A, M, R = (torch.tensor(np.array(q), dtype=torch.float32) for q in (S, A, M, R))
    v = value(S).squeeze(-1)
    adv = (R - v).detach()
    adv = (adv - adv[M > 0].mean()) / (adv[M > 0].std() + 1e-6)
    dist = torch.distributions.Categorical(logits=policy(S))
    pg = -(dist.log_prob(A) * adv * M).sum() / M.sum()
    vf = ((R - v) ** 2 * M).sum() / M.sum()
    ent = (dist.entropy() * M).sum() / M.sum()
    opt.zero_grad()
    (pg + 0.005 * vf - 0.005 * ent).backward()
    opt.step()
    print(f"iter {it:3d} | ep_len_mean {M.sum(0).mean():7.2f} | policy_loss {pg.item():+.4f} | value_loss {vf.item():9.3f} | entropy {ent.item():.4f}")
