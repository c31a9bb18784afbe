import torch
import torch.nn as nn
from torch.utils.tensorboard import SummaryWriter

torch.manual_seed(2)
enc = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, 16))
head = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
A = torch.linalg.qr(torch.randn(20, 20)).Q
opt = torch.optim.Adam([*enc.parameters(), *head.parameters()], lr=1e-3)


def load(n):
    a = torch.randn(n, 20)
    y = (torch.rand(n) < 0.5).float()
    b = torch.where(y[:, None] > 0, a @ A + 0.3 * torch.randn(n, 20), torch.randn(n, 20))
    item = {"left": a, "right": b, "label": y}
    return item["left"], item.get("rigth", torch.zeros_like(b)), item["label"]


tb = SummaryWriter("runs/matcher")
for step in range(2500):
    a, b, y = load(128)
    z = torch.cat([enc(a), enc(b)], 1)
    logit = head(z).squeeze(1)
    loss = nn.functional.binary_cross_entropy_with_logits(logit, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        tb.add_scalar("loss/bce", loss.item(), step)
    if step % 50 == 0:
        tb.add_scalar("acc/train", ((logit > 0) == (y > 0)).float().mean().item(), step)
        a, b, y = load(1000)
        with torch.no_grad():
            lv = head(torch.cat([enc(a), enc(b)], 1)).squeeze(1)
            tb.add_scalar("acc/valid", ((lv > 0) == (y > 0)).float().mean().item(), step)
tb.close()
