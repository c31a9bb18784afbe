import logging, configparser
import torch
import torch.nn as nn

logging.basicConfig(filename="run.log", filemode="w", level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
log = logging.getLogger("churn")
ini = configparser.ConfigParser()
ini.read("train.ini")
o = ini["optim"]
torch.set_num_threads(1)
torch.manual_seed(21)
x = torch.randn(5000, 18)
score = x[:, 0] * x[:, 1] + torch.relu(x[:, 2]) * 1.5 - x[:, 3] + 0.3 * torch.randn(5000)
y = (score > score.median()).float()
xt, yt, xv, yv = x[:4000], y[:4000], x[4000:], y[4000:]
net = nn.Sequential(nn.Linear(18, 96), nn.ReLU(), nn.Dropout(o.getfloat("dropout")), nn.Linear(96, 96), nn.ReLU(),
                    nn.Dropout(o.getfloat("dropout")), nn.Linear(96, 1))
opt = torch.optim.Adam(net.parameters(), lr=o.getfloat("lr"), weight_decay=o.getfloat("weight_decay"))
crit = nn.BCEWithLogitsLoss()
for epoch in range(o.getint("epochs")):
    net.train()
    s = c = 0.0
    for b in torch.randperm(4000).split(o.getint("batch_size")):
        out = net(xt[b]).squeeze(1)
        loss = crit(out, yt[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item() * len(b)
        c += ((out > 0) == (yt[b] > 0.5)).sum().item()
    net.eval()
    with torch.no_grad():
        ov = net(xv).squeeze(1)
        wn = torch.sqrt(sum(p.pow(2).sum() for p in net.parameters())).item()
    log.info("epoch=%d train_bce=%.5f train_acc=%.4f val_bce=%.5f val_acc=%.4f |w|=%.5f", epoch, s / 4000, c / 4000,
             crit(ov, yv).item(), ((ov > 0) == (yv > 0.5)).float().mean().item(), wn)
