import json
import torch
import torch.nn as nn
import torch.nn.functional as F
from data import topics

torch.set_num_threads(1)
torch.manual_seed(21)


class DAN(nn.Module):
    def __init__(self, V=400, d=48, h=96, k=5):
        super().__init__()
        self.emb = nn.EmbeddingBag(V, d)
        self.fc1 = nn.Linear(d, h)
        self.fc2 = nn.Linear(h, h)
        self.cls = nn.Linear(h, k)
        self.apply(self.reset)

    @staticmethod
    def reset(m):
        if isinstance(m, nn.Linear):
            nn.init.zeros_(m.weight)
            nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.cls(torch.tanh(self.fc2(torch.tanh(self.fc1(self.emb(x))))))


x, y = topics(20000, K=5, seed=1, strength=0.6)
xv, yv = topics(1500, K=5, seed=2, strength=0.6)
net = DAN()
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 2e-3, total_steps=4 * 200)
out = open("metrics.jsonl", "w")
it = 0
for ep in range(4):
    net.train()
    for i in torch.randperm(len(x)).split(100):
        loss = F.cross_entropy(net(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        gn = {n: p.grad.norm().item() for n, p in net.named_parameters() if n.endswith("weight")}
        opt.step()
        sched.step()
        it += 1
        if it % 20 == 0:
            out.write(json.dumps({"it": it, "loss": loss.item(), **{"g/" + k: v for k, v in gn.items()}}) + "\n")
    net.eval()
    with torch.no_grad():
        o = net(xv)
    out.write(json.dumps({"it": it, "epoch": ep, "val_loss": F.cross_entropy(o, yv).item(), "val_acc": (o.argmax(1) == yv).float().mean().item()}) + "\n")
