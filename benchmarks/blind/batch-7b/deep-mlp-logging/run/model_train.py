import logging
import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)-7s %(message)s", filename="run.log")
torch.manual_seed(0)
DEPTH, WIDTH = 14, 64


def make(n, seed):
    g = torch.Generator().manual_seed(seed)
    c = torch.randn(7, 30, generator=torch.Generator().manual_seed(99))
    y = torch.randint(7, (n,), generator=g)
    return c[y] + 1.2 * torch.randn(n, 30, generator=g), y


class DeepMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(30 if i == 0 else WIDTH, WIDTH) for i in range(DEPTH)])
        self.head = nn.Linear(WIDTH, 7)

    def forward(self, x):
        for layer in self.layers:
            x = torch.sigmoid(layer(x))
        return self.head(x)


x, y = make(4000, 1)
xv, yv = make(800, 2)
model = DeepMLP()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
step = 0
for epoch in range(8):
    for idx in torch.randperm(len(x)).split(50):
        loss = F.cross_entropy(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 40 == 0:
            norms = [l.weight.grad.norm().item() for l in model.layers]
            logging.info("step %d loss %.4f | grad L0 %.2e L4 %.2e L8 %.2e L13 %.2e head %.2e", step, loss.item(),
                         norms[0], norms[4], norms[8], norms[13], model.head.weight.grad.norm().item())
        step += 1
    with torch.no_grad():
        o = model(xv)
    logging.info("epoch %d val_loss %.4f val_acc %.3f", epoch, F.cross_entropy(o, yv).item(), (o.argmax(1) == yv).float().mean().item())
