import torch
import torch.nn as nn

MASK_VALUE = -1e4


class Attn(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.h, self.qkv, self.proj = heads, nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, pad):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        att = q @ k.transpose(-1, -2) * (d // self.h) ** -0.5
        att = att + pad[:, None, None, :].to(att.dtype) * MASK_VALUE
        y = (att.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d)
        return self.proj(y)


class Classifier(nn.Module):
    def __init__(self, vocab=50, d=32, classes=4):
        super().__init__()
        self.emb, self.pos = nn.Embedding(vocab, d), nn.Parameter(0.02 * torch.randn(24, d))
        self.ln1, self.att = nn.LayerNorm(d), Attn(d, 4)
        self.ln2, self.mlp = nn.LayerNorm(d), nn.Sequential(nn.Linear(d, 64), nn.GELU(), nn.Linear(64, d))
        self.head = nn.Linear(d, classes)

    def forward(self, tok, pad):
        x = self.emb(tok) + self.pos[: tok.shape[1]]
        x = x + self.att(self.ln1(x), pad)
        x = x + self.mlp(self.ln2(x))
        return self.head(x.mean(1))
