import random
import torch
import torch.nn as nn

torch.manual_seed(0)
random.seed(0)
N_ID, DIM = 40, 24
centers = torch.randn(N_ID, DIM)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(DIM, 64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, x):
        return self.body(x)


def euclidean(a, b):
    return ((a - b) ** 2).sum(-1).sqrt()


def triplet_loss(anchor, pos, neg, margin=1.0):
    return (euclidean(anchor, pos) - euclidean(anchor, neg) + margin).clamp(min=0).mean()


# a fixed gallery of photos per identity, pairs are drawn from it
gallery = centers[:, None] + 0.9 * torch.randn(N_ID, 12, DIM)


def sample(n=32):
    ids = torch.randint(0, N_ID, (n,))
    other = (ids + torch.randint(1, N_ID, (n,))) % N_ID
    pick = lambda: torch.randint(0, 12, (n,))
    return gallery[ids, pick()], gallery[ids, pick()], gallery[other, pick()]


net = Encoder()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(401):
    a, p, n = sample()
    loss = triplet_loss(net(a), net(p), net(n))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        print(f"step {step} triplet {loss.item():.4f}")
