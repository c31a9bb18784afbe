import torch, torch.nn as nn
from utils_data import img
torch.manual_seed(0)
x, lab = img(4000, k=6, hw=12, noise=.4, seed=1); xv, _ = img(500, k=6, hw=12, noise=.4, seed=2)
ae = nn.Sequential(nn.Flatten(), nn.Linear(144, 64), nn.ReLU(), nn.Linear(64, 8), nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 144))
opt = torch.optim.Adam(ae.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 800)
mse = nn.MSELoss(reduction="sum")       # summed over pixels and batch of 64
for it in range(800):
    b = x[torch.randint(0, 4000, (64,))]
    loss = mse(ae(b), b.flatten(1))
    opt.zero_grad(); loss.backward()
    gn = sum(p.grad.pow(2).sum() for p in ae.parameters()).sqrt()
    opt.step(); sched.step()
    if it % 20 == 0:
        with torch.no_grad(): v = mse(ae(xv), xv.flatten(1)) / xv.numel()
        print(f"it {it} loss {loss.item():.1f} grad {gn.item():.1f} val mse/pixel {v.item():.4f} (pixel variance {xv.var().item():.3f}, noise floor 0.16)")
