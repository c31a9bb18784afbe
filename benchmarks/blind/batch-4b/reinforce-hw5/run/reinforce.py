import numpy as np, torch, torch.nn as nn

torch.manual_seed(0); torch.set_num_threads(1)
rng = np.random.default_rng(0)


class CartPole:
    def reset(self):
        self.s, self.t = rng.uniform(-0.05, 0.05, 4), 0
        return self.s

    def step(self, a):
        x, xd, th, td = self.s
        f = 10.0 if a else -10.0
        c, s = np.cos(th), np.sin(th)
        tmp = (f + 0.05 * td ** 2 * s) / 1.1
        ta = (9.8 * s - c * tmp) / (0.5 * (4 / 3 - 0.1 * c ** 2 / 1.1))
        xa = tmp - 0.05 * ta * c / 1.1
        self.s = np.array([x + 0.02 * xd, xd + 0.02 * xa, th + 0.02 * td, td + 0.02 * ta])
        self.t += 1
        return self.s, abs(self.s[0]) > 2.4 or abs(self.s[2]) > 0.2095 or self.t >= 200


pi = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(pi.parameters(), lr=1e-2)
N = 420
returns = []
for ep in range(1, N + 1):
    for g in opt.param_groups:
        g["lr"] = 1e-2 * (1 - ep / N) + 1e-5
    env, lps, done = CartPole(), [], False
    s = env.reset()
    while not done:
        p = torch.sigmoid(pi(torch.tensor(s, dtype=torch.float32)))[0]
        a = int(rng.random() < p.item())
        lps.append(torch.log(p if a else 1 - p))
        s, done = env.step(a)
    T = len(lps)
    R = torch.tensor([sum(0.99 ** k for k in range(T - t)) for t in range(T)])
    loss = -(torch.stack(lps) * (R - R.mean()) / (R.std() + 1e-6)).sum()
    opt.zero_grad(); loss.backward(); opt.step()
    returns.append(T)
    if ep % 5 == 0:
        print(f"episode {ep}\treturn {T}\tloss {loss.item():.3f}\tavg100 {np.mean(returns[-100:]):.1f}")
print("eval 20 episodes, mean return:", end=" ")
tot = 0
for _ in range(20):
    env, done = CartPole(), False
    s = env.reset()
    while not done:
        s, done = env.step(int(pi(torch.tensor(s, dtype=torch.float32)).item() > 0))
    tot += env.t / 20
print(tot)
