import logging

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import yaml

logging.basicConfig(filename="train.log", filemode="w", level=logging.INFO,
                    format="%(asctime)s %(levelname)s %(message)s", datefmt="%Y-%m-%d %H:%M:%S")
log = logging.getLogger()
cfg = yaml.safe_load(open("config.yaml"))
torch.manual_seed(cfg["seed"])


def draw(n, seed):
    """14x14 pictures with a square, a disc, a cross, a bar or a ring somewhere in the noise."""
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:14, 0:14]
    out = np.zeros((n, 1, 14, 14), dtype=np.float32)
    lab = rng.integers(0, 5, n)
    for i in range(n):
        cy, cx, r = rng.integers(4, 10), rng.integers(4, 10), rng.integers(2, 5)
        dy, dx = yy - cy, xx - cx
        d = np.hypot(dy, dx)
        m = [np.maximum(abs(dy), abs(dx)) <= r, d <= r, (abs(dy) <= 0.5) | (abs(dx) <= 0.5), abs(dy) <= 1, abs(d - r) < 0.8][lab[i]]
        out[i, 0] = m & (np.maximum(abs(dy), abs(dx)) <= r + 1)
    out += rng.normal(0, 0.25, out.shape)
    return torch.from_numpy(out.astype(np.float32)), torch.from_numpy(lab)


class ShapeNet(nn.Module):
    def __init__(self, c1, c2):
        super().__init__()
        self.conv1 = nn.Conv2d(1, c1, 3, padding=1)
        self.conv2 = nn.Conv2d(c1, c2, 3, padding=1)
        self.fc = nn.Linear(c2 * 9, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))


xtr, ytr = draw(2560, 0)
xva, yva = draw(640, 1)
model = ShapeNet(*cfg["model"]["channels"])
o = cfg["optimizer"]
opt = torch.optim.SGD(model.parameters(), lr=o["lr"], momentum=o["momentum"], weight_decay=o["weight_decay"])
log.info("config %s", cfg)
it = 0
for ep in range(1, cfg["epochs"] + 1):
    model.train()
    for b in torch.randperm(len(xtr)).split(cfg["batch_size"]):
        loss = F.cross_entropy(model(xtr[b]), ytr[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        it += 1
        if it % 10 == 0:
            log.info("[ep %d it %d] loss=%.4f", ep, it, loss.item())
    model.eval()
    with torch.no_grad():
        z = model(xva)
        log.info("[ep %d] VAL loss=%.4f acc=%.4f", ep, F.cross_entropy(z, yva).item(), (z.argmax(1) == yva).float().mean().item())
