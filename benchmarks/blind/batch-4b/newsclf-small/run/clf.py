import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
import json, sys

cfg = json.load(open("cfg.json"))
torch.manual_seed(cfg["seed"])
dtype = {"fp16": torch.float16, "fp32": torch.float32}[cfg["precision"]]
d = np.load("data/topics.npz")
x, y, xv, yv = (torch.tensor(d[k]) for k in ("x", "y", "xv", "yv"))


class BagClf(nn.Module):
    def __init__(self, v=400, e=48, k=6):
        super().__init__()
        self.emb = nn.Embedding(v, e)
        self.f1, self.f2 = nn.Linear(e, 64), nn.Linear(64, k)
        self.drop = nn.Dropout(0.3)

    def forward(self, t):
        return self.f2(self.drop(torch.tanh(self.f1(self.drop(self.emb(t).mean(1))))))


model = BagClf().to(dtype)          # saves memory
optim = torch.optim.AdamW(model.parameters(), lr=cfg["lr"], weight_decay=0.05)
print("precision", cfg["precision"], "params", sum(p.numel() for p in model.parameters()))
step = 0
for ep in range(cfg["epochs"]):
    model.train()
    for i in torch.randperm(len(x)).split(cfg["bs"]):
        loss = F.cross_entropy(model(x[i]), y[i])
        optim.zero_grad()
        loss.backward()
        optim.step()
        step += 1
        if step <= 10 or step % 25 == 0:
            bad = [n for n, p in model.named_parameters() if not torch.isfinite(p).all()]
            print(f"step {step:4d} loss {loss.item():.4f} |g| {torch.stack([p.grad.float().norm() for p in model.parameters()]).norm():.4f} non-finite params: {bad}")
    model.eval()
    with torch.no_grad():
        o = model(xv)
    print(f"-- epoch {ep} val_loss {F.cross_entropy(o.float(), yv):.4f} val_acc {(o.argmax(1) == yv).float().mean():.4f}")
