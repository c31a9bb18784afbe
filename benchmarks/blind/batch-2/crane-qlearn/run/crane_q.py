"""Q-learning for a crane: move a load along 7 slots to a random goal, -1 per move, +40 on arrival."""
import csv, random, torch
from torch import nn
torch.manual_seed(0); random.seed(0); torch.set_num_threads(1)
S, GAMMA = 7, 0.97
enc = lambda p, g: torch.cat([torch.eye(S)[p], torch.eye(S)[g]], -1)
q = nn.Sequential(nn.Linear(2 * S, 64), nn.ReLU(), nn.Linear(64, 3))
tgt = nn.Sequential(nn.Linear(2 * S, 64), nn.ReLU(), nn.Linear(64, 3)); tgt.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=2e-3)
buf, eps, n = [], 1.0, 0
with open("crane.csv", "w", newline="") as f:
    w = csv.writer(f, delimiter=";"); w.writerow(["episode", "return", "length", "td_loss", "mean_q", "epsilon"])
    for ep in range(450):
        p, g, R, L, mq, k, t = random.randrange(S), random.randrange(S), 0, 0, 0, 0, 0
        while t < 40:
            t += 1
            with torch.no_grad():
                v = q(enc(p, g)); mq += v.max().item()
            a = random.randrange(3) if random.random() < eps else int(v.argmax())
            p2 = min(S - 1, max(0, p + (a - 1))); done = a == 1 and p == g
            r = 40. if done else -1.
            buf.append((p, g, a, r, p2, done)); buf = buf[-5000:]; p = p2; R += r; n += 1
            if len(buf) > 200 and n % 1 == 0:
                b = random.sample(buf, 48)
                P, G_, A, Rr, P2, Dn = (torch.tensor(z) for z in zip(*b))
                with torch.no_grad():
                    y = Rr + GAMMA * (~Dn) * tgt(enc(P2, G_)).max(1).values
                l = ((q(enc(P, G_)).gather(1, A[:, None])[:, 0] - y) ** 2).mean()
                opt.zero_grad(); l.backward(); opt.step(); L += l.item(); k += 1
            if n % 100 == 0:
                tgt.load_state_dict(q.state_dict())
            if done:
                break
        eps = max(.05, eps * .99)
        w.writerow([ep, f"{R:.1f}", t, f"{L / max(k, 1):.4f}", f"{mq / t:.3f}", f"{eps:.3f}"])
