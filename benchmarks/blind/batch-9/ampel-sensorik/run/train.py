"""Ampelzustand aus 12 Sensorwerten. Aufruf: python train.py"""
import csv
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 1
LR = 0.1
MOMENTUM = 0.0
UPDATES_PER_EPOCH = 1500
EPOCHS = 25

torch.manual_seed(0)
torch.set_num_threads(1)
gen = torch.Generator().manual_seed(1)
teacher = nn.Sequential(nn.Linear(12, 20), nn.Tanh(), nn.Linear(20, 5))
for p in teacher.parameters():
    p.data = torch.randn(p.shape, generator=gen)


def sample(n):
    x = torch.randn(n, 12, generator=gen)
    with torch.no_grad():
        logits = teacher(x) + 1.0 * torch.randn(n, 5, generator=gen)
    return x, logits.argmax(1)


x_train, y_train = sample(20000)
x_test, y_test = sample(1000)
net = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 5))
opt = torch.optim.SGD(net.parameters(), lr=LR, momentum=MOMENTUM)

with open("results.csv", "w", newline="") as fh:
    out = csv.writer(fh)
    out.writerow(["epoch", "train_loss", "train_acc", "test_loss", "test_acc", "grad_norm_mean", "grad_norm_std"])
    for epoch in range(1, EPOCHS + 1):
        tot = hit = seen = 0
        norms = []
        for _ in range(UPDATES_PER_EPOCH):
            idx = torch.randint(len(x_train), (BATCH,))
            logits = net(x_train[idx])
            loss = F.cross_entropy(logits, y_train[idx])
            opt.zero_grad()
            loss.backward()
            norms.append(float(nn.utils.clip_grad_norm_(net.parameters(), 1e9)))
            opt.step()
            tot += loss.item() * len(idx)
            hit += (logits.argmax(1) == y_train[idx]).sum().item()
            seen += len(idx)
        with torch.no_grad():
            logits = net(x_test)
            test_loss = F.cross_entropy(logits, y_test).item()
            test_acc = (logits.argmax(1) == y_test).float().mean().item()
        n = torch.tensor(norms)
        out.writerow([epoch, round(tot / seen, 4), round(hit / seen, 4), round(test_loss, 4), round(test_acc, 4), round(n.mean().item(), 3), round(n.std().item(), 3)])
