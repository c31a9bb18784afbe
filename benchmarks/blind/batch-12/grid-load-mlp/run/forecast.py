import json
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(2)
args = json.load(open("args.json"))
rng = np.random.default_rng(7)
n = 6000
hour, temp, wind = rng.uniform(0, 24, n), rng.normal(0, 1, n), rng.normal(0, 1, n)
load = 1.2 * np.sin(2 * np.pi * hour / 12) * (temp > 0) + np.abs(temp) * 0.8 - np.cos(2 * wind) + rng.normal(0, 0.1, n)
load = (load - load.mean()) / load.std()
x = torch.tensor(np.stack([(hour - 12) / 7, temp, wind], 1), dtype=torch.float32)
y = torch.tensor(load, dtype=torch.float32)
tr, va = slice(0, 5000), slice(5000, n)
layers, d = [], 3
for _ in range(args["n_layers"]):
    layers += [nn.Linear(d, args["hidden"]), nn.Tanh()]
    d = args["hidden"]
net = nn.Sequential(*layers, nn.Linear(d, 1))
opt = torch.optim.Adam(net.parameters(), lr=args["lr"])
print("trainable parameters:", sum(p.numel() for p in net.parameters()))
hist = []
for ep in range(1, args["epochs"] + 1):
    net.train()
    tot = 0.0
    for i in torch.randperm(5000).split(args["batch_size"]):
        loss = F.mse_loss(net(x[tr][i]).squeeze(1), y[tr][i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(i)
    net.eval()
    with torch.no_grad():
        p = net(x[va]).squeeze(1)
        v = F.mse_loss(p, y[va]).item()
    hist.append({"epoch": ep, "train_mse": round(tot / 5000, 5), "val_mse": round(v, 5), "val_r2": round(1 - v / y[va].var().item(), 4)})
    print(f"[{ep:03d}/{args['epochs']}] train_mse {tot / 5000:.4f}  val_mse {v:.4f}  R2 {hist[-1]['val_r2']:.3f}")
json.dump(hist, open("history.json", "w"), indent=1)
