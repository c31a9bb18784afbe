import json
import torch
import torch.nn as nn

torch.manual_seed(1)
w = torch.randn(30)
net = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
with open("events.jsonl", "w") as f:
    for step in range(3000):
        x = torch.randn(64, 30)
        y = (x @ w / 3)[:, None] + 0.1 * torch.randn(64, 1)
        if step == 1203:
            x = x * 25
            y = -y * 4
        loss = nn.functional.huber_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 3 == 0:
            f.write(json.dumps({"global_step": step, "train": {"huber": round(loss.item(), 6)}}) + "\n")
