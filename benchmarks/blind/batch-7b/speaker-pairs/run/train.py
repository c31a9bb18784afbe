import torch
import torch.nn as nn
from dataset import pairs
from losses import contrastive_loss

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 16))
opt = torch.optim.Adam(encoder.parameters(), lr=5e-4)
for step in range(1, 601):
    a, b, same = pairs(64, step)
    loss = contrastive_loss(encoder(a), encoder(b), same)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print("step %4d  loss %.5f" % (step, loss.item()), flush=True)
