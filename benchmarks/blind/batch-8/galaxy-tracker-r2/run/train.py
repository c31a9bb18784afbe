import sys
import torch
import torch.nn as nn
import yaml
from data import load, batches
from losses import heatmap_loss, offset_loss, size_loss

cfg = yaml.safe_load(open(sys.argv[1]))
gen = torch.Generator().manual_seed(cfg["seed"])
torch.manual_seed(cfg["seed"])
train = load("train")


class Head(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.hm, self.off, self.wh = nn.Linear(64, 1), nn.Linear(64, 2), nn.Linear(64, 2)

    def forward(self, x):
        h = self.body(x)
        return self.hm(h).squeeze(-1), self.off(h), self.wh(h)


net = Head(train["feat"].shape[-1])
opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"])
step = 0
for epoch in range(cfg["epochs"]):
    for b in batches(train, cfg["batch_size"], gen):
        hm, off, wh = net(b["feat"])
        l_hm = heatmap_loss(hm, b["visible"])
        l_off = offset_loss(off, b["off"], b["visible"])
        l_wh = size_loss(wh, b["wh"], b["visible"])
        loss = l_hm + cfg["w_off"] * l_off + cfg["w_size"] * l_wh
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), cfg["clip"])
        opt.step()
        step += 1
        if step % 25 == 0:
            print(f"e{epoch} s{step} | hm {l_hm.item():.4f} | off {l_off.item():.4f} | wh {l_wh.item():.4f} | all {loss.item():.4f}")
