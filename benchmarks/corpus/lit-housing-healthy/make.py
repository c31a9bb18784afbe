import csv
import torch
import torch.nn as nn
import yaml

hp = yaml.safe_load(open("lightning_logs/version_0/hparams.yaml"))
torch.manual_seed(0)
w = torch.randn(hp["n_features"]) * (torch.rand(hp["n_features"]) < 0.4)


def rows(n):
    x = torch.randn(n, hp["n_features"])
    return x, (x @ w / 3 + torch.sin(2 * x[:, 0]) + 0.5 * torch.randn(n))[:, None]


xt, yt = rows(hp["n_train"])
xv, yv = rows(1500)
h = hp["hidden"]
net = nn.Sequential(nn.Linear(hp["n_features"], h), nn.ReLU(), nn.Dropout(hp["dropout"]), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, 1))
opt = torch.optim.AdamW(net.parameters(), hp["lr"], weight_decay=hp["weight_decay"])
out = csv.DictWriter(open("lightning_logs/version_0/metrics.csv", "w", newline=""), ["epoch", "step", "train_loss_epoch", "train_loss_step", "val_loss", "val_mae"])
out.writeheader()
step = -1
for ep in range(hp["max_epochs"]):
    net.train()
    tot = 0.0
    for b in torch.randperm(len(xt)).split(hp["batch_size"]):
        step += 1
        loss = nn.functional.mse_loss(net(xt[b]), yt[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(b) / len(xt)
        if step % 25 == 24:
            out.writerow({"epoch": ep, "step": step, "train_loss_step": loss.item()})
    net.eval()
    with torch.no_grad():
        o = net(xv)
    out.writerow({"epoch": ep, "step": step, "val_loss": nn.functional.mse_loss(o, yv).item(), "val_mae": (o - yv).abs().mean().item()})
    out.writerow({"epoch": ep, "step": step, "train_loss_epoch": tot})
