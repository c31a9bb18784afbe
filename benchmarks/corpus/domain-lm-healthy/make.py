import json
import torch
import torch.nn as nn

p = json.load(open("params.json"))
torch.manual_seed(44)
V, T = 24, 20
news = torch.softmax(3.5 * torch.randn(2, V, V), -1)
DOM = {"news": 0, "legal": 1}


def text(dom, n):
    m = news[DOM[dom]]
    x = [torch.randint(V, (n,))]
    for _ in range(T):
        x.append(torch.multinomial(m[x[-1]], 1).squeeze(1))
    tag = torch.full((n, 1), V + DOM[dom])
    return torch.cat([tag, torch.stack(x, 1)], 1)


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.r, self.o = nn.Embedding(V + 2, 32), nn.GRU(32, 64, batch_first=True), nn.Linear(64, V)

    def loss(self, x):
        return nn.functional.cross_entropy(self.o(self.r(self.e(x[:, 1:-1]))[0]).flatten(0, 1), x[:, 2:].flatten()) if False else \
            nn.functional.cross_entropy(self.o(self.r(self.e(x[:, :-1]))[0])[:, 1:].flatten(0, 1), x[:, 2:].flatten())


m = LM()
opt = torch.optim.Adam(m.parameters(), lr=4e-3)
for _ in range(700):
    l = m.loss(text("news", 32))
    opt.zero_grad()
    l.backward()
    opt.step()
opt = torch.optim.Adam(m.parameters(), lr=p["lr"])
ev = {d: text(d, 256) for d in DOM}
with open("metrics.jsonl", "w") as f:
    for s in range(p["steps"] + 1):
        k = int(32 * p["mix_original"])
        l = m.loss(torch.cat([text(p["finetune_on"], 32 - k), text("news", max(k, 1))[:k]]))
        if s % p["eval_every"] == 0:
            with torch.no_grad():
                r = {"step": s, "train_nll": l.item(), **{f"eval/{d}_nll": m.loss(ev[d]).item() for d in ev}}
            f.write(json.dumps(r) + "\n")
        opt.zero_grad()
        l.backward()
        opt.step()
