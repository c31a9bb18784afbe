import logging, sys
import torch
import torch.nn as nn
import torch.nn.functional as F
import yaml
from data import topics

torch.set_num_threads(1)
cfg = yaml.safe_load(open("intent.yaml"))
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s %(levelname).1s %(module)s:%(lineno)d] %(message)s")
torch.manual_seed(cfg["seed"])
x, y = topics(8000, K=10, L=12, seed=1)
xv, yv = topics(1000, K=10, L=12, seed=2)


class Intent(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.emb = nn.Embedding(400, 64)
        self.drop = nn.Dropout(p)
        self.l1 = nn.Linear(64, 64)
        self.l2 = nn.Linear(64, 64)
        self.out = nn.Linear(64, 10)

    def forward(self, ids):
        h = self.drop(self.emb(ids)).mean(1)
        h = self.drop(F.gelu(self.l1(h)))
        h = self.drop(F.gelu(self.l2(h)))
        return self.out(h)


net = Intent(cfg["dropout"])
opt = torch.optim.AdamW(net.parameters(), lr=cfg["lr"], weight_decay=cfg["weight_decay"])
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg["epochs"])
for epoch in range(cfg["epochs"]):
    net.train()
    tl = 0.0
    for i in torch.randperm(len(x)).split(64):
        loss = F.cross_entropy(net(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tl += loss.item() * len(i) / len(x)
    sched.step()
    net.eval()
    with torch.no_grad():
        ot, ov = net(x[:1000]), net(xv)
    logging.info("epoch=%d loss=%.4f train_acc(eval mode)=%.3f valid_loss=%.4f valid_acc=%.3f", epoch, tl,
                 (ot.argmax(1) == y[:1000]).float().mean(), F.cross_entropy(ov, yv), (ov.argmax(1) == yv).float().mean())
