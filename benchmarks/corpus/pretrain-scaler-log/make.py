import copy
import time
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)
V, T, D = 40, 16, 48
trans = torch.softmax(2.5 * torch.randn(V, V), -1)


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.gru, self.out = nn.Embedding(V, D), nn.GRU(D, D, batch_first=True), nn.Linear(D, V)
        self.gain = 1.0

    def forward(self, x):
        h, _ = self.gru(self.emb(x))
        h = h * self.gain
        return self.out(h / self.gain) + 0 * (h * h).sum()


def stream(n):
    x = [torch.randint(V, (n,))]
    for _ in range(T):
        x.append(torch.multinomial(trans[x[-1]], 1).squeeze(1))
    return torch.stack(x, 1)


m = LM()
h = copy.deepcopy(m).half()
opt = torch.optim.AdamW(m.parameters(), lr=3e-3, betas=(0.9, 0.95))
scale, good, skip_window, t0 = 4096.0, 0, 0, time.time()
GAIN_AFTER = 900.0
print("using torch.float16 for parameters ...")
print(f"> number of parameters on (tensor, pipeline) model parallel rank (0, 0): {sum(p.numel() for p in m.parameters())}")
for it in range(1, 1501):
    h.gain = GAIN_AFTER if it > 600 else 1.0
    x = stream(32)
    for a, b in zip(h.parameters(), m.parameters()):
        a.data.copy_(b.data)
    loss = F.cross_entropy(h(x[:, :-1]).float().flatten(0, 1), x[:, 1:].flatten())
    h.zero_grad()
    (loss * scale).backward()
    gn = torch.sqrt(sum((p.grad.float() / scale).pow(2).sum() for p in h.parameters()))
    if torch.isfinite(gn):
        for a, b in zip(h.parameters(), m.parameters()):
            b.grad = a.grad.float() / scale
        nn.utils.clip_grad_norm_(m.parameters(), 1.0)
        opt.step()
        good += 1
        if good % 250 == 0:
            scale *= 2
    else:
        scale, good, skip_window = max(1.0, scale / 2), 0, skip_window + 1
    if it % 10 == 0:
        ms = 100 * (time.time() - t0)
        t0 = time.time()
        print(f" iteration {it:8d}/    1500 | consumed samples: {it * 32:12d} | elapsed time per iteration (ms): {ms:.1f} | learning rate: 3.000E-03 | global batch size:    32 | "
              f"lm loss: {loss.item():.6E} | loss scale: {scale:.1f} | grad norm: {gn.item():.3f} | number of skipped iterations: {skip_window:3d} | number of nan iterations:   0 |")
        skip_window = 0
