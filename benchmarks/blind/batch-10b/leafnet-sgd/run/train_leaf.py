"""Leaf disease classifier on 16x16 crops."""
import argparse
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--lr", type=float, default=1e-5)
parser.add_argument("--momentum", type=float, default=0.9)
args = parser.parse_args()
torch.manual_seed(7)


def crops(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 5, (n,), generator=g)
    x = 0.8 * torch.randn(n, 3, 16, 16, generator=g)
    for k in range(5):
        m = y == k
        x[m, k % 3, 2 * k:2 * k + 5, 3:12] += 1.2
    return TensorDataset(x, y)


train_dl = DataLoader(crops(2000, 1), args.batch_size, shuffle=True)
val_dl = DataLoader(crops(500, 2), 250)
model = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(512, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=args.momentum)
criterion = nn.CrossEntropyLoss()
print(args)
for epoch in range(1, args.epochs + 1):
    model.train()
    total = correct = 0
    for x, y in train_dl:
        out = model(x)
        loss = criterion(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
        correct += (out.argmax(1) == y).sum().item()
    model.eval()
    with torch.no_grad():
        v = [(criterion(model(x), y).item(), (model(x).argmax(1) == y).float().mean().item()) for x, y in val_dl]
    print(f"[{epoch:2d}/{args.epochs}] train loss {total / 2000:.4f} acc {100 * correct / 2000:.1f}% | "
          f"val loss {sum(a for a, _ in v) / 2:.4f} acc {50 * sum(b for _, b in v):.1f}%", flush=True)
