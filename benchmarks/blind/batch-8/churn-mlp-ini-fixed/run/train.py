import configparser
import numpy as np
import torch
import torch.nn.functional as F
from model import build

cp = configparser.ConfigParser()
cp.read("settings.ini")
torch.manual_seed(cp.getint("train", "seed"))
d = np.load(cp["data"]["train"])
X, Y = torch.tensor(d["x"]), torch.tensor(d["y"])
mu, sd = X[:3000].mean(0), X[:3000].std(0)
X = (X - mu) / sd
Xtr, Ytr, Xte, Yte = X[:3000], Y[:3000], X[3000:], Y[3000:]
net = build(X.shape[1], [int(h) for h in cp["model"]["hidden"].split(",")])
opt = torch.optim.SGD(net.parameters(), lr=cp.getfloat("train", "learning_rate"), momentum=cp.getfloat("train", "momentum"))
bs = cp.getint("data", "batch_size")
for epoch in range(1, cp.getint("train", "max_epochs") + 1):
    run = 0.0
    for idx in torch.randperm(len(Xtr)).split(bs):
        opt.zero_grad()
        loss = F.binary_cross_entropy_with_logits(net(Xtr[idx]).squeeze(1), Ytr[idx])
        loss.backward()
        opt.step()
        run += loss.item() * len(idx)
    with torch.no_grad():
        z = net(Xte).squeeze(1)
        vl = F.binary_cross_entropy_with_logits(z, Yte).item()
        acc = ((z > 0).float() == Yte).float().mean().item()
    print("ep %3d | BCE(train)=%.5f | BCE(test)=%.5f | hit rate=%.2f%%" % (epoch, run / len(Xtr), vl, 100 * acc))
