import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
V, D = 200, 48
gen = torch.Generator().manual_seed(4)
table = torch.randint(0, 12, (V,), generator=gen)


def batch(n=32, t=10):
    x = torch.randint(0, V, (n, t))
    return x, table[x]


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, D)
        self.fc1 = nn.Linear(D, 96)
        self.fc2 = nn.Linear(96, 12)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(self.emb(x))))


model = Tagger().half()          # half the memory, twice the speed
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(1, 301):
    x, y = batch()
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step <= 3 or step % 20 == 0:
        print(f"step {step:4d} | loss {loss.item():.4f} | dtype {next(model.parameters()).dtype}")
