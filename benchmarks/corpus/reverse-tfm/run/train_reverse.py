import math
import sys
import torch
import torch.nn as nn

WARMUP = 0
PEAK_LR = 1.5e-2
STEPS = 500
D, HEADS, LAYERS, VOCAB, LEN = 32, 4, 6, 12, 8
torch.manual_seed(0)


class Seq2Tag(nn.Module):
    """reverse the string: position i must output symbol LEN-1-i"""

    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, D)
        self.pos = nn.Parameter(torch.randn(LEN, D))
        layer = nn.TransformerEncoderLayer(D, HEADS, 2 * D, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, LAYERS)
        self.out = nn.Linear(D, VOCAB)

    def forward(self, x):
        return self.out(self.enc(self.emb(x) + self.pos))


model = Seq2Tag()
opt = torch.optim.Adam(model.parameters(), lr=PEAK_LR, betas=(0.9, 0.98))
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / max(1, WARMUP)) * (1 - s / STEPS))
print(f"{sum(p.numel() for p in model.parameters())/1e3:.0f}k params, vocab {VOCAB}")
for step in range(STEPS):
    x = torch.randint(VOCAB, (32, LEN))
    logits = model(x)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), x.flip(1).flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 5 == 0:
        acc = (logits.argmax(-1) == x.flip(1)).float().mean()
        print(f"step={step} loss={loss.item():.4f} tok_acc={acc:.4f} lr={sched.get_last_lr()[0]:.6f}")
