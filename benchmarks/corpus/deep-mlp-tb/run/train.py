import torch
import torch.nn.functional as F
from torch.utils.tensorboard import SummaryWriter
from net import build

torch.manual_seed(0)
centers = torch.randn(6, 16)


def sample(n):
    y = torch.randint(6, (n,))
    return centers[y] + 0.6 * torch.randn(n, 16), y


net = build()
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
tb = SummaryWriter("runs/depth12")
linears = [m for m in net if hasattr(m, "weight")]
for step in range(1500):
    x, y = sample(64)
    logits = net(x)
    loss = F.cross_entropy(logits, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 25 == 0:
        tb.add_scalar("loss", loss.item(), step)
        tb.add_scalar("acc", (logits.argmax(1) == y).float().mean().item(), step)
        for i, m in enumerate(linears):
            tb.add_scalar(f"grad_norm/layer{i:02d}", m.weight.grad.norm().item(), step)
tb.close()
