import math
import torch
import torch.nn as nn
import yaml

c = yaml.safe_load(open("conf.yaml"))
torch.manual_seed(8)
V = 40
P = torch.softmax(3 * torch.randn(V, V), -1)


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.r, self.o = nn.Embedding(V, 48), nn.LSTM(48, 64, batch_first=True), nn.Linear(64, V)
        nn.init.normal_(self.o.weight, std=0.6)

    def forward(self, x):
        return self.o(self.r(self.e(x))[0])


m = LM()
opt = torch.optim.Adam(m.parameters(), lr=c["lr"])
clipped = 0
with open("lm_log.tsv", "w") as f:
    f.write("iter\tloss\tppl\tgrad_norm\tclipped_total\n")
    for it in range(c["max_iters"]):
        x = [torch.randint(V, (24,))]
        for _ in range(24):
            x.append(torch.multinomial(P[x[-1]], 1)[:, 0])
        x = torch.stack(x, 1)
        loss = nn.functional.cross_entropy(m(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        opt.zero_grad()
        (loss * 4).backward()
        gn = nn.utils.clip_grad_norm_(m.parameters(), c["clip_grad"]).item()
        clipped += gn > c["clip_grad"]
        opt.step()
        if it % c["log_interval"] == 0:
            f.write(f"{it}\t{loss.item():.4f}\t{math.exp(loss.item()):.2f}\t{gn:.4f}\t{clipped}\n")
