import copy
import torch
import torch.nn.functional as F
from model import Classifier

torch.manual_seed(1)
SCALE, WINDOW, FLOOR = 2.0 ** 15, 200, 2.0 ** -14
master = Classifier()
half = copy.deepcopy(master).half()
opt = torch.optim.AdamW(master.parameters(), lr=1e-3)
scale, good, skipped = SCALE, 0, 0
rule = torch.randint(4, (50,))


def batch(n=64, t=24):
    tok = torch.randint(50, (n, t))
    ln = torch.randint(0, t, (n,))
    pad = torch.arange(t)[None] >= ln[:, None]
    votes = F.one_hot(rule[tok], 4) * (~pad)[..., None]
    return tok.masked_fill(pad, 0), pad, votes.sum(1).argmax(1)


for step in range(1, 1001):
    tok, pad, y = batch()
    for h, m in zip(half.parameters(), master.parameters()):
        h.data.copy_(m.data)
    loss = F.cross_entropy(half(tok, pad).float(), y)
    half.zero_grad()
    (loss * scale).backward()
    finite = all(torch.isfinite(h.grad).all() for h in half.parameters())
    if finite:
        for h, m in zip(half.parameters(), master.parameters()):
            m.grad = h.grad.float() / scale
        torch.nn.utils.clip_grad_norm_(master.parameters(), 1.0)
        opt.step()
        good += 1
        if good % WINDOW == 0:
            scale *= 2
    else:
        scale, good, skipped = max(scale / 2, FLOOR), 0, skipped + 1
        print(f"OVERFLOW! skipping step {step}, reducing loss scale to {scale}")
    if step % 10 == 0:
        print(f"step {step}: loss {loss.item():.4f} | loss_scale {scale:g} | skipped {skipped}")
