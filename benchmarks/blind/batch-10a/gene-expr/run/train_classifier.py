import json
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
cfg = json.load(open("config.json"))
torch.manual_seed(cfg["seed"])
G = cfg["genes"]

# five tumour subtypes, log-TPM already standardised
centres = 0.4 * torch.randn(5, G)
y = torch.randint(5, (1800,))
x = centres[y] + 1.5 * torch.randn(1800, G)
xt, yt, xv, yv = x[:1500], y[:1500], x[1500:], y[1500:]

model = nn.Sequential(nn.Linear(G, cfg["hidden"]), nn.ReLU(), nn.Dropout(cfg["dropout"]), nn.Linear(cfg["hidden"], 5))
opt = torch.optim.Adam(model.parameters(), lr=cfg["lr"])


def sparsity(m):
    return sum(p.abs().sum() for n, p in m.named_parameters() if "weight" in n)


for epoch in range(1, cfg["epochs"] + 1):
    model.train()
    ce_sum = l1_sum = 0.0
    for idx in torch.randperm(1500).split(cfg["batch_size"]):
        ce = F.cross_entropy(model(xt[idx]), yt[idx])
        l1 = cfg["l1_lambda"] * sparsity(model)
        loss = ce + l1
        opt.zero_grad()
        loss.backward()
        opt.step()
        ce_sum += ce.item() / 30
        l1_sum += l1.item() / 30
    model.eval()
    with torch.no_grad():
        out = model(xv)
    print(f"ep {epoch:2d}  total {ce_sum + l1_sum:8.4f}  ce {ce_sum:.4f}  l1 {l1_sum:8.4f}  val_ce {F.cross_entropy(out, yv).item():.4f}  val_acc {(out.argmax(1) == yv).float().mean():.3f}")
