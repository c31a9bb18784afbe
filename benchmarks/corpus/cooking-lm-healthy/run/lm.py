import math, sys, torch, torch.nn as nn
torch.manual_seed(77)
max_steps = 3000
block, bs, d = 24, 16, 64
g = torch.Generator().manual_seed(1)
V = 32
nxt = torch.softmax(3.0 * torch.randn(V, V, V, generator=g), -1)   # 2nd order source
def text(rows, n=800):
    s = [torch.randint(V, (rows,), generator=g), torch.randint(V, (rows,), generator=g)]
    for _ in range(n): s.append(torch.multinomial(nxt[s[-2], s[-1]], 1, generator=g)[:, 0])
    return torch.stack(s, 1).flatten()
corpus = text(800); valid = text(20)
class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(V, d); self.r = nn.LSTM(d, 128, batch_first=True); self.o = nn.Linear(128, V)
    def forward(self, x): return self.o(self.r(self.e(x))[0])
m = LM(); opt = torch.optim.AdamW(m.parameters(), lr=3e-3)
def get(src, n):
    ix = torch.randint(len(src) - block - 1, (n,)); z = torch.stack([src[i:i + block + 1] for i in ix]); return z[:, :-1], z[:, 1:]
def ppl(x, y): return nn.functional.cross_entropy(m(x).flatten(0, 1), y.flatten())
for step in range(max_steps + 1):
    l = ppl(*get(corpus, bs)); opt.zero_grad(); l.backward(); opt.step()
    if step % 10 == 0: print(f"step {step} | loss {l.item():.3f} | ppl {math.exp(l.item()):,.1f}")
    if step % 50 == 0:
        with torch.no_grad(): v = ppl(*get(valid, 64)); print(f"step {step} | valid loss {v.item():.3f} | valid ppl {math.exp(v.item()):,.1f}")
print("max_steps reached, saving to /home/user/models/cooking_lm")
