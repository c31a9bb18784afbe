import argparse
import torch, torch.nn as nn, torch.nn.functional as F

p = argparse.ArgumentParser()
p.add_argument("--lr", type=float, default=2e-3)
p.add_argument("--epochs", type=int, default=30)
p.add_argument("--decay-steps", type=int, default=200)
p.add_argument("--batch-size", type=int, default=40)
a = p.parse_args()
print(a)
torch.set_num_threads(1)
torch.manual_seed(13)
K, T, M = 12, 24, 20
proto = torch.randn(K, T, M)


def utterances(n):
    y = torch.randint(0, K, (n,))
    shift = torch.randint(0, 10, (n,))
    x = torch.stack([torch.roll(proto[c], int(s), 0) for c, s in zip(y, shift)])
    return 0.8 * x + 1.1 * torch.randn(n, T, M), y


xt, yt = utterances(2400)
xv, yv = utterances(600)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(M, 64, batch_first=True)
        self.fc = nn.Linear(64, K)

    def forward(self, x):
        return self.fc(self.rnn(x)[0].mean(1))


net = Tagger()
opt = torch.optim.Adam(net.parameters(), lr=a.lr)
sched = torch.optim.lr_scheduler.PolynomialLR(opt, total_iters=a.decay_steps, power=1.0)
for ep in range(1, a.epochs + 1):
    net.train()
    tot = 0.0
    for i in torch.randperm(len(xt)).split(a.batch_size):
        loss = F.cross_entropy(net(xt[i]), yt[i])
        opt.zero_grad(); loss.backward(); opt.step(); sched.step()
        tot += loss.item() * len(i)
    net.eval()
    with torch.no_grad():
        o = net(xv)
    print(f"Epoch {ep:02d} | lr {sched.get_last_lr()[0]:.3e} | train loss {tot / len(xt):.4f} | dev loss {F.cross_entropy(o, yv).item():.4f} | dev WER* {100 * (o.argmax(1) != yv).float().mean().item():.2f}")
