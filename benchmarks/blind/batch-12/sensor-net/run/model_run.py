import torch
from torch import nn

torch.manual_seed(30)
torch.set_num_threads(1)


class SensorNet(nn.Module):
    def __init__(self, n_in=32, width=64, n_out=7):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_in, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
        )
        self.head = nn.Linear(width, n_out)
        self.reset_parameters()

    def reset_parameters(self):
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.constant_(m.weight, 0.02)
                nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.head(self.body(x))


protos = torch.randn(7, 32)
labels = torch.randint(0, 7, (4200,))
signals = protos[labels] + 0.9 * torch.randn(4200, 32)
x_train, y_train = signals[:3500], labels[:3500]
x_test, y_test = signals[3500:], labels[3500:]

model = SensorNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(20):
    model.train()
    running = 0.0
    for idx in torch.randperm(len(x_train)).split(64):
        optimizer.zero_grad()
        loss = criterion(model(x_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
        running += loss.item() * len(idx)
    model.eval()
    with torch.no_grad():
        out = model(x_test)
        acc = (out.argmax(1) == y_test).float().mean().item()
        h = model.body(x_test)
    print(f"epoch {epoch + 1:>2} loss {running / len(x_train):.4f} test_loss {criterion(out, y_test).item():.4f} "
          f"test_acc {acc:.4f} hidden_std_across_units {h.std(1).mean().item():.6f}")
