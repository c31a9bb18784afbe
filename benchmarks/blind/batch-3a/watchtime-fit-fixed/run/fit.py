import sys, torch, torch.nn as nn, torch.nn.functional as F
from tqdm import tqdm
from data import tabular
torch.set_num_threads(1)
torch.manual_seed(13)

BATCH = 128
LR = 0.4
STEPS = 4000
xt, yt = tabular(200000, d=12, seed=1, kind="cls")
xv, yv = tabular(4000, d=12, seed=2, kind="cls")
net = nn.Sequential(nn.Linear(12, 64), nn.Tanh(), nn.Linear(64, 2))
opt = torch.optim.SGD(net.parameters(), lr=LR)
print("batch", BATCH, "lr", LR, "dev %d" % len(xv))
run = []
bar = tqdm(range(STEPS), file=sys.stdout, mininterval=0, miniters=80, ncols=120, desc="fit")
for k in bar:
    i = torch.randint(len(xt), (BATCH,))
    loss = F.cross_entropy(net(xt[i]), yt[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if k % 80 == 79:
        with torch.no_grad():
            o = net(xv)
        bar.set_postfix(loss=f"{loss.item():.4f}", dev=f"{F.cross_entropy(o, yv).item():.4f}", acc=f"{(o.argmax(1) == yv).float().mean().item():.3f}", refresh=False)
