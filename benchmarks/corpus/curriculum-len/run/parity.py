import json, torch, torch.nn as nn
torch.manual_seed(0)
stages = json.load(open("curriculum.json"))
net = nn.GRU(3, 48, batch_first=True); head = nn.Linear(48, 1)
params = [*net.parameters(), *head.parameters()]
opt = torch.optim.Adam(params, lr=3e-3)
log = open("parity.jsonl", "w")
for step in range(2200):
    L = next(s["maxlen"] for s in stages if step < s["until"])
    x = torch.rand(64, L, 2); m = (torch.rand(64, L, 1) < .5).float()
    inp = torch.cat([x, m], -1)
    y = ((x[..., :1] - x[..., 1:]) * m).sum(1)
    loss = (head(net(inp)[0][:, -1]) - y).pow(2).mean()
    opt.zero_grad(); loss.backward(); nn.utils.clip_grad_norm_(params, 1.0); opt.step()
    if step % 5 == 0: log.write(json.dumps({"step": step, "maxlen": L, "loss": loss.item(), "var_y": y.var().item()}) + "\n")
