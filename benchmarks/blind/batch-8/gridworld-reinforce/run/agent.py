import torch
import torch.nn as nn
import numpy as np

torch.manual_seed(0)
rng = np.random.default_rng(0)
SIZE, MAXT = 5, 30


def reset():
    pos = rng.integers(0, SIZE, 2)
    goal = rng.integers(0, SIZE, 2)
    return pos, goal


def obs(pos, goal):
    return torch.tensor(np.concatenate([pos, goal, goal - pos]) / SIZE, dtype=torch.float32)


MOVES = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
pi = nn.Sequential(nn.Linear(6, 48), nn.Tanh(), nn.Linear(48, 4))
vf = nn.Sequential(nn.Linear(6, 48), nn.Tanh(), nn.Linear(48, 1))
opt = torch.optim.Adam(list(pi.parameters()) + list(vf.parameters()), lr=3e-3)
avg = None
for ep in range(1, 2001):
    pos, goal = reset()
    O, A, R = [], [], []
    for t in range(MAXT):
        o = obs(pos, goal)
        with torch.no_grad():
            a = torch.distributions.Categorical(logits=pi(o)).sample().item()
        pos = np.clip(pos + MOVES[a], 0, SIZE - 1)
        done = (pos == goal).all()
        O.append(o); A.append(a); R.append(10.0 if done else -1.0)
        if done:
            break
    G, g = [], 0.0
    for r in reversed(R):
        g = r + 0.97 * g
        G.append(g)
    G = torch.tensor(G[::-1])
    O, A = torch.stack(O), torch.tensor(A)
    v = vf(O).squeeze(1)
    dist = torch.distributions.Categorical(logits=pi(O))
    adv = (G - v).detach() / 10
    pg = -(dist.log_prob(A) * adv).mean()
    vl = (v - G).pow(2).mean()
    loss = pg + 0.05 * vl - 0.01 * dist.entropy().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    ret = sum(R)
    avg = ret if avg is None else 0.97 * avg + 0.03 * ret
    print(f"Episode {ep}\treturn {ret:.1f}\trunning_return {avg:.2f}\tpg_loss {pg.item():+.3f}\tv_loss {vl.item():.3f}\tentropy {dist.entropy().mean().item():.3f}")
