import math
import torch
import torch.nn as nn

torch.manual_seed(0)
V = 20000
z = 1.0 / torch.arange(1, V + 1) ** 1.3
base = z / z.sum()
topics = torch.stack([torch.roll(base, 2500 * k) for k in range(8)])
emb, out = nn.EmbeddingBag(V, 24), nn.Linear(24, V)
nn.init.normal_(out.weight, std=0.01)
nn.init.zeros_(out.bias)
opt = torch.optim.Adam([*emb.parameters(), *out.parameters()], lr=8e-3)
print(f"vocabulary: {V:,} types | parameters: {sum(p.numel() for p in [*emb.parameters(), *out.parameters()]):,}")
for s in range(241):
    t = torch.randint(8, (96,))
    w = torch.multinomial(topics[t], 13, replacement=True)
    logits = out(emb(w[:, :12]))
    loss = nn.functional.cross_entropy(logits, w[:, 12])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if s % 3 == 0:
        print(f"| epoch   1 | {s:5d}/  240 batches | lr 0.0080 | ms/batch 21.3 | loss {loss.item():5.2f} | ppl {math.exp(loss.item()):,.2f}")
