#!/usr/bin/env python
import argparse
import math
import random

import torch
from torch import nn

p = argparse.ArgumentParser()
p.add_argument("--hidden", type=int, default=48)
p.add_argument("--lr", type=float, default=2e-3)
p.add_argument("--bsz", type=int, default=32)
p.add_argument("--iters", type=int, default=900)
p.add_argument("--log-every", type=int, default=10)
p.add_argument("--seed", type=int, default=1234)
args = p.parse_args()
print(args)
random.seed(args.seed)
torch.manual_seed(args.seed)

# invented place names: consonant-vowel syllables with a few endings
on, vo, en = "b d f g k l m n p r s t v st br kr".split(), "a e i o u ai ei".split(), "n r th mond burg ia os".split()
names = ["".join(random.choice(on) + random.choice(vo) for _ in range(random.randint(1, 3))) + random.choice(en) for _ in range(6000)]
text = "\n".join(names)
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
cut = int(0.9 * len(data))
train, dev = data[:cut], data[cut:]


class CharGRU(nn.Module):
    def __init__(self, v, h):
        super().__init__()
        self.emb = nn.Embedding(v, 24)
        self.gru = nn.GRU(24, h, batch_first=True)
        self.out = nn.Linear(h, v)

    def forward(self, x):
        y, _ = self.gru(self.emb(x))
        return self.out(y)


def batch(src, n, T=40):
    i = torch.randint(len(src) - T - 1, (n,))
    x = torch.stack([src[j:j + T + 1] for j in i])
    return x[:, :-1], x[:, 1:]


net = CharGRU(len(chars), args.hidden)
opt = torch.optim.RMSprop(net.parameters(), lr=args.lr)
ce = nn.CrossEntropyLoss()
for it in range(args.iters):
    x, y = batch(train, args.bsz)
    loss = ce(net(x).flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % args.log_every == 0:
        print(f"iter {it:5d} | train bpc {loss.item() / math.log(2):.3f}")
    if it % 100 == 99:
        with torch.no_grad():
            x, y = batch(dev, 200)
            print(f"iter {it:5d} | dev bpc {ce(net(x).flatten(0, 1), y.flatten()).item() / math.log(2):.3f}")
