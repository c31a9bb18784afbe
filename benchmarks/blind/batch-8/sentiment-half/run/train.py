import torch
import torch.nn.functional as F
import numpy as np
from model import BagModel

torch.manual_seed(0)
d = np.load("data/reviews.npz")
tok, lab = torch.tensor(d["tok"]), torch.tensor(d["lab"])
net = BagModel()
net = net.half()          # fits on the small card
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
print(f"{sum(p.numel() for p in net.parameters())} params, dtype {next(net.parameters()).dtype}")
it = 0
for epoch in range(3):
    for idx in torch.randperm(len(tok)).split(64):
        loss = F.cross_entropy(net(tok[idx]).float(), lab[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        it += 1
        if it <= 5 or it % 10 == 0:
            print(f"Ep{epoch} It{it:04d} CE {loss.item():.4f}")
