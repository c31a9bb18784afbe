import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
proto = torch.randn(10, 20, 40)


def mfcc(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 10, (n,), generator=g)
    return TensorDataset(proto[y] + 2.5 * torch.randn(n, 20, 40, generator=g), y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv1d(20, 32, 5, padding=2)
        self.c2 = nn.Conv1d(32, 32, 5, padding=2)
        self.fc = nn.Linear(32 * 10, 10)

    def forward(self, x):
        x = F.max_pool1d(F.relu(self.c1(x)), 2)
        x = F.max_pool1d(F.relu(self.c2(x)), 2)
        return self.fc(x.flatten(1))


train_loader = DataLoader(mfcc(3000, 1), batch_size=50, shuffle=True)
test_loader = DataLoader(mfcc(600, 2), batch_size=200)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.002, momentum=0.9)
scheduler = StepLR(optimizer, step_size=10, gamma=0.1)
for epoch in range(1, 31):
    model.train()
    running = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        running += loss.item()
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in test_loader:
            correct += (model(x).argmax(1) == y).sum().item()
    print(f"Epoch {epoch}: lr={optimizer.param_groups[0]['lr']:.3e} loss={running / len(train_loader):.4f} test_acc={correct / 600:.3f}", flush=True)
