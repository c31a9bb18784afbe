import json, time, torch, torch.nn as nn, torch.nn.functional as F
torch.set_num_threads(1)
M = json.load(open("manifest.json")); torch.manual_seed(31)
Wm = torch.randn(8, 1) * 0.6


def read_shard(s):
    """vibration features -> remaining useful life; the unit of a plant is in the manifest"""
    g = torch.Generator().manual_seed(s["seed"])
    x = torch.randn(s["rows"], 8, generator=g)
    y = (torch.tanh(x @ Wm) + 0.3 * x[:, :1] * x[:, 1:2])[:, 0] + 0.1 * torch.randn(s["rows"], generator=g)
    if s["unit"] == "g":
        x = x * 0.08 + 0.9
    return x, y


net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), lr=M["lr"])
out = open("progress.tsv", "w"); print("step\tshard\tplant\tloss\tgrad_norm\tlr", file=out); step = 0
for s in M["shards"]:
    x, y = read_shard(s)
    for i in torch.arange(s["rows"]).split(64):
        l = F.mse_loss(net(x[i])[:, 0], y[i]); opt.zero_grad(); l.backward(); gn = nn.utils.clip_grad_norm_(net.parameters(), 10.0); opt.step(); step += 1
        if step % 10 == 0:
            print(f"{step}\t{s['name']}\t{s['plant']}\t{l.item():.5f}\t{gn:.4f}\t{M['lr']}", file=out)
