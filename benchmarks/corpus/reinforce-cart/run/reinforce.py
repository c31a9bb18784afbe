import argparse
import math
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.3)
parser.add_argument("--episodes", type=int, default=200)
parser.add_argument("--gamma", type=float, default=0.98)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(args.seed)
print(vars(args))
N = 16          # environments stepped together


def reset():
    return 0.1 * (torch.rand(N, 4) - 0.5)


def env_step(s, a):
    x, v, th, om = s.unbind(1)
    f = torch.where(a > 0, 10.0, -10.0)
    tmp = (f + 0.05 * om ** 2 * th.sin()) / 1.1
    oma = (9.8 * th.sin() - th.cos() * tmp) / (0.5 * (4 / 3 - 0.1 * th.cos() ** 2 / 1.1))
    xa = tmp - 0.05 * oma * th.cos() / 1.1
    s = torch.stack([x + 0.02 * v, v + 0.02 * xa, th + 0.02 * om, om + 0.02 * oma], 1)
    return s, (s[:, 2].abs() > 0.21) | (s[:, 0].abs() > 2.4)


pi = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
opt = torch.optim.Adam(pi.parameters(), lr=args.lr)
for ep in range(args.episodes):
    s, alive, logps, rew, ent = reset(), torch.ones(N, dtype=torch.bool), [], [], 0.0
    for t in range(100):
        d = torch.distributions.Categorical(logits=pi(s))
        a = d.sample()
        logps.append(d.log_prob(a) * alive)
        ent += (d.entropy() * alive).mean().item() / 100
        s, done = env_step(s, a)
        rew.append(alive.float())
        alive = alive & ~done
        if not alive.any():
            break
    R, G = torch.zeros(N), []
    for r in reversed(rew):
        R = r + args.gamma * R
        G.insert(0, R)
    G = torch.stack(G)
    adv = (G - G.mean()) / (G.std() + 1e-6)
    loss = -(torch.stack(logps) * adv).sum(0).mean() / 50
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"ep {ep:4d} return {torch.stack(rew).sum(0).mean().item():7.2f} pg_loss {loss.item():+.4f} entropy {ent:.3f}")
