import torch
from torch import nn
from net import PickNet
torch.manual_seed(9); torch.set_num_threads(1)


def waves(n):
    y = torch.randint(3, (n,))
    t = torch.arange(48.)
    f = torch.tensor([.25, .5, .9])[y][:, None] * (1 + .08 * torch.randn(n, 1))
    on = torch.randint(4, 20, (n, 1))
    x = torch.sin(f * t + 6.28 * torch.rand(n, 1)) * (t >= on) + .25 * torch.randn(n, 48)
    return x[:, None], y


x, y = waves(2048); xv, yv = waves(256)
net = PickNet()
convs = [m for m in net.body if isinstance(m, nn.Conv1d)]
opt = torch.optim.Adam(net.parameters(), lr=3e-4)
ce = nn.CrossEntropyLoss()
cols = ["epoch", "loss", "val loss", "val acc", "|g| conv1", "|g| conv4", "|g| conv8", "|g| conv12", "|g| head"]
print("┏" + "┳".join("━" * 12 for _ in cols) + "┓")
print("┃" + "┃".join(f" {c:<11}" for c in cols) + "┃")
print("┡" + "╇".join("━" * 12 for _ in cols) + "┩")
for ep in range(1, 16):
    tot, G = 0, torch.zeros(5)
    bs = torch.randperm(len(x)).split(32)
    for b in bs:
        loss = ce(net(x[b]), y[b])
        opt.zero_grad(); loss.backward()
        G += torch.tensor([m.weight.grad.norm() for m in (convs[0], convs[3], convs[7], convs[11], net.head)])
        opt.step(); tot += loss.item()
    with torch.no_grad():
        z = net(xv)
    r = [str(ep), f"{tot / len(bs):.4f}", f"{ce(z, yv):.4f}", f"{(z.argmax(1) == yv).float().mean():.3f}"] + [f"{v:.2e}" for v in (G / len(bs)).tolist()]
    print("│" + "│".join(f" {c:<11}" for c in r) + "│", flush=True)
print("└" + "┴".join("─" * 12 for _ in cols) + "┘")
