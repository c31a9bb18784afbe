import json, logging
import numpy as np
import torch
from torch import nn

logging.basicConfig(filename="experiment.log", level=logging.INFO, format="%(asctime)s %(levelname)-5s %(message)s")
cfg = json.load(open("config.json"))
torch.manual_seed(0)


def build(sizes, n_in=2, n_out=2):
    layers = []
    for s in sizes:
        layers += [nn.Linear(n_in, s), nn.ReLU()]
        n_in = s
    return nn.Sequential(*layers, nn.Linear(n_in, n_out))


z = np.load("data/spiral.npz")
X, y = torch.tensor(z["X"]), torch.tensor(z["y"])
tr, va = slice(0, 2400), slice(2400, None)
net = build(cfg["model"]["hidden_layers"])
o = cfg["optimizer"]
opt = torch.optim.Adam(net.parameters(), lr=o["learning_rate"])
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg["epochs"], eta_min=o["final_lr"])
ce = nn.CrossEntropyLoss()
logging.info("trainable parameters: %d", sum(p.numel() for p in net.parameters()))
for e in range(cfg["epochs"]):
    tot = hit = 0
    for b in torch.randperm(2400).split(cfg["batch_size"]):
        q = net(X[b])
        loss = ce(q, y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(b)
        hit += (q.argmax(1) == y[b]).sum().item()
    with torch.no_grad():
        q = net(X[va])
        logging.info("epoch=%d lr=%.5f train_loss=%.4f train_acc=%.4f val_loss=%.4f val_acc=%.4f", e, sch.get_last_lr()[0], tot / 2400, hit / 2400,
                     ce(q, y[va]).item(), (q.argmax(1) == y[va]).float().mean().item())
    sch.step()
