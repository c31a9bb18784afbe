#!/usr/bin/env python3
# bird call classifier on mel summaries
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F

args = argparse.ArgumentParser()
args.add_argument("--dropout", type=float, default=0.2)
args.add_argument("--epochs", type=int, default=10)
args.add_argument("--lr", type=float, default=1e-3)
args = args.parse_args()
torch.manual_seed(10)
K, D = 8, 40
proto = torch.randn(K, D) * 0.8


def calls(n):
    y = torch.randint(K, (n,))
    return proto[y] * (0.5 + torch.rand(n, 1)) + torch.randn(n, D) * 0.7, y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(D, 64), nn.Linear(64, 64), nn.Linear(64, K)
        self.drop = nn.Dropout(args.dropout)

    def forward(self, x):
        x = self.drop(F.relu(self.a(x)))
        x = self.drop(F.relu(self.b(x)))
        return self.c(x)


xt, yt = calls(4000)
xv, yv = calls(1000)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=args.lr)
print(net)
print(f"Using dropout={args.dropout}, lr={args.lr}")
for epoch in range(args.epochs):
    net.train()
    s = h = 0.0
    for i in torch.randperm(len(xt)).split(64):
        out = net(xt[i])
        loss = F.cross_entropy(out, yt[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item() * len(i)
        h += (out.argmax(1) == yt[i]).sum().item()
    net.eval()
    with torch.no_grad():
        out = net(xv)
    print(f"Epoch {epoch+1:02d} | train loss {s/len(xt):.4f} | train acc {h/len(xt):.3f} | val loss {F.cross_entropy(out, yv):.4f} | val acc {(out.argmax(1)==yv).float().mean():.3f}")
