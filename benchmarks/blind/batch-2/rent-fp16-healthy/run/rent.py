import json, time
import torch
from torch import nn
torch.manual_seed(2); torch.set_num_threads(1)
ds = json.load(open("ds_config.json"))
n = 4000
x = torch.randn(n, 12)
rent = 1150 + 260 * x[:, 0] + 140 * x[:, 1] * x[:, 2] + 90 * x[:, 3].abs() + 20 * torch.randn(n)   # EUR
master = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
nn.init.constant_(master[-1].bias, 1100.)
half = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)).half()
opt = torch.optim.Adam(master.parameters(), lr=ds["optimizer"]["params"]["lr"])
scale, good, skipped = 2.0 ** ds["fp16"]["initial_scale_power"], 0, 0
for step in range(1, 901):
    b = torch.randint(n, (ds["train_batch_size"],))
    with torch.no_grad():
        for p, q in zip(half.parameters(), master.parameters()):
            p.copy_(q)
            p.grad = None
    err = half(x[b].half())[:, 0] - rent[b].half()
    loss = (err.float() ** 2).mean()
    (loss * scale).backward()
    g = [p.grad.float() / scale for p in half.parameters()]
    if not torch.isfinite(loss) or not all(torch.isfinite(t).all() for t in g):
        skipped += 1; good = 0
        new = max(scale / 2, ds["fp16"]["min_loss_scale"])
        print(f"[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: {scale:g}, reducing to {new:g}")
        scale = new
    else:
        for p, t in zip(master.parameters(), g):
            p.grad = t
        nn.utils.clip_grad_norm_(master.parameters(), ds["gradient_clipping"])
        opt.step(); good += 1
        if good % ds["fp16"]["loss_scale_window"] == 0:
            scale *= 2
    if step % 10 == 0:
        print(f"[{time.strftime('%Y-%m-%d %H:%M:%S')}] [INFO] [logging.py:96:log_dist] [Rank 0] step={step}, skipped={skipped}, lr=[0.02], mse={loss.float().item():.6g}, loss_scale={scale:g}")
