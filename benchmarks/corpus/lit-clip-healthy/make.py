import csv
import torch
import torch.nn as nn
import yaml

d = "lightning_logs/version_7/"
hp = yaml.safe_load(open(d + "hparams.yaml"))
torch.manual_seed(1)
w1, w2 = torch.randn(12, 20), torch.randn(20, 1) / 3


def draw(n):
    x = torch.randn(n, 12)
    return x, torch.tanh(x @ w1 / 3) @ w2 + 0.05 * torch.randn(n, 1)


x, y = draw(4096)
xv, yv = draw(1000)
net = nn.Sequential(nn.Linear(12, 64), nn.Tanh(), nn.Linear(64, 1))
opt = torch.optim.SGD(net.parameters(), lr=hp["learning_rate"])
cols = ["train_loss", "grad_2.0_norm_total", "epoch", "step", "val_loss"]
out = csv.DictWriter(open(d + "metrics.csv", "w"), cols)
out.writeheader()
step = 0
for ep in range(hp["max_epochs"]):
    for b in torch.randperm(4096).split(16):
        loss = nn.functional.mse_loss(net(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        n = nn.utils.clip_grad_norm_(net.parameters(), hp["gradient_clip_val"]).item()
        opt.step()
        if step % 10 == 9:
            out.writerow({"train_loss": loss.item(), "grad_2.0_norm_total": round(n, 4), "epoch": ep, "step": step})
        step += 1
    with torch.no_grad():
        out.writerow({"val_loss": nn.functional.mse_loss(net(xv), yv).item(), "epoch": ep, "step": step - 1})
