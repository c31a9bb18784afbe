
import math, time, argparse, torch, torch.nn as nn, torch.nn.functional as F
from data import stream
torch.set_num_threads(1)
ap = argparse.ArgumentParser()
ap.add_argument("--lr", type=float); ap.add_argument("--epochs", type=int, default=6); ap.add_argument("--clip", type=float, default=0.25)
ap.add_argument("--bptt", type=int, default=20); ap.add_argument("--batch_size", type=int, default=32); ap.add_argument("--nhid", type=int, default=96); ap.add_argument("--log-interval", type=int, default=40)
a = ap.parse_args(); print(a)
torch.manual_seed(1111)
V = 48
s = stream(400000, V, 2, 1.6); tr, va = s[:230000], s[230000:245000]; te = s[245000:260000]
emb, rnn, dec = nn.Embedding(V, 48), nn.GRU(48, a.nhid, batch_first=True), nn.Linear(a.nhid, V)
P = [*emb.parameters(), *rnn.parameters(), *dec.parameters()]
opt = torch.optim.Adam(P, lr=a.lr)
def bf(x, b): n = len(x) // b; return x[:n * b].view(b, n)
def ev(x):
    d = bf(x, 10)
    with torch.no_grad(): return F.cross_entropy(dec(rnn(emb(d[:, :-1]))[0]).flatten(0, 1), d[:, 1:].flatten()).item()
d = bf(tr, a.batch_size); nb = (d.shape[1] - 1) // a.bptt
best = None; lr = a.lr
for ep in range(1, a.epochs + 1):
    h = None; tot = 0; t0 = t = time.time()
    for b in range(nb):
        x = d[:, b * a.bptt:(b + 1) * a.bptt + 1]
        o, h = rnn(emb(x[:, :-1]), h); h = h.detach()
        l = F.cross_entropy(dec(o).flatten(0, 1), x[:, 1:].flatten()); opt.zero_grad(); l.backward()
        nn.utils.clip_grad_norm_(P, a.clip); opt.step(); tot += l.item()
        if b % a.log_interval == 0 and b > 0:
            c = tot / a.log_interval
            print(f"| epoch {ep:3d} | {b:5d}/{nb:5d} batches | lr {lr:02.4f} | ms/batch {(time.time()-t)*1000/a.log_interval:5.2f} | loss {c:5.2f} | ppl {math.exp(min(c,30)):8.2f}"); tot = 0; t = time.time()
    v = ev(va); print("-" * 89); print(f"| end of epoch {ep:3d} | time: {time.time()-t0:5.2f}s | valid loss {v:5.2f} | valid ppl {math.exp(min(v,30)):8.2f}"); print("-" * 89)
    if best is None or v < best: best = v
    else:
        lr /= 2
        for g in opt.param_groups: g["lr"] = lr
print("=" * 89); l = ev(te); print(f"| End of training | test loss {l:5.2f} | test ppl {math.exp(min(l,30)):8.2f}"); print("=" * 89)
