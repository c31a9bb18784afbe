import json, tomllib, torch, torch.nn as nn, torch.nn.functional as F
from loaders import tab
c = tomllib.load(open("picker.toml", "rb"))["train"]
torch.manual_seed(c["seed"])
X, Y = tab(5000, d=30, k=3, seed=1); Xv, Yv = tab(1000, d=30, k=3, seed=2)
net = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 3))
opt = torch.optim.SGD(net.parameters(), lr=c["lr"], weight_decay=1e-3)
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, c["steps"])
f = open("events.jsonl", "w")
for s in range(1, c["steps"] + 1):
    i = torch.randint(0, 5000, (c["batch"],))
    loss = F.cross_entropy(net(X[i]), Y[i])
    opt.zero_grad()
    loss.backward()
    total = nn.utils.clip_grad_norm_(net.parameters(), c["max_grad_norm"])
    opt.step(); sch.step()
    if s % 25 == 0:
        f.write(json.dumps({"s": s, "tr_loss": round(loss.item(), 5), "g": round(total.item(), 5), "g_after": round(min(total.item(), c["max_grad_norm"]), 5), "lr": sch.get_last_lr()[0]}) + "\n")
    if s % 500 == 0:
        net.eval()
        with torch.no_grad(): o = net(Xv)
        net.train()
        f.write(json.dumps({"s": s, "dev_loss": round(F.cross_entropy(o, Yv).item(), 5), "dev_acc": round((o.argmax(1) == Yv).float().mean().item(), 4)}) + "\n")
