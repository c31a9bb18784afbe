import csv, random
import torch, torch.nn as nn, torch.nn.functional as F

random.seed(0); torch.manual_seed(0)
SIZE, GOAL = 6, (5, 5)
PITS = {(1, 3), (3, 1), (2, 4), (4, 2)}


def obs(p):
    v = torch.zeros(2 * SIZE); v[p[0]] = 1; v[SIZE + p[1]] = 1
    return v


def step(p, a):
    if random.random() < 0.1: a = random.randrange(4)
    d = ((0, 1), (1, 0), (0, -1), (-1, 0))[a]
    q = (min(max(p[0] + d[0], 0), SIZE - 1), min(max(p[1] + d[1], 0), SIZE - 1))
    if q == GOAL: return q, 10.0, True
    if q in PITS: return q, -5.0, True
    return q, -0.1, False


Q = nn.Sequential(nn.Linear(2 * SIZE, 64), nn.ReLU(), nn.Linear(64, 4))
T = nn.Sequential(nn.Linear(2 * SIZE, 64), nn.ReLU(), nn.Linear(64, 4)); T.load_state_dict(Q.state_dict())
opt = torch.optim.Adam(Q.parameters(), lr=1e-3)
mem, n = [], 0
out = csv.writer(open("dqn.csv", "w")); out.writerow(["episode", "reward", "td_loss", "q_max", "eps"])
for ep in range(600):
    p, done, R, L, k, qm = (0, 0), False, 0.0, 0.0, 0, 0.0
    eps = max(0.05, 1 - ep / 250)
    while not done and k < 50:
        with torch.no_grad(): q = Q(obs(p))
        a = random.randrange(4) if random.random() < eps else int(q.argmax())
        p2, r, done = step(p, a)
        mem.append((obs(p), a, r, obs(p2), done)); mem = mem[-5000:]
        p, R, k, n, qm = p2, R + r, k + 1, n + 1, max(qm, q.max().item())
        if len(mem) > 200 and n % 2 == 0:
            s, aa, rr, s2, dd = zip(*random.sample(mem, 32))
            with torch.no_grad(): tgt = torch.tensor(rr) + 0.97 * T(torch.stack(s2)).max(1).values * (1 - torch.tensor(dd).float())
            l = F.smooth_l1_loss(Q(torch.stack(s))[torch.arange(32), torch.tensor(aa)], tgt)
            opt.zero_grad(); l.backward(); opt.step(); L = l.item()
        if n % 200 == 0: T.load_state_dict(Q.state_dict())
    out.writerow([ep, round(R, 2), round(L, 5), round(qm, 3), round(eps, 3)])
