import torch, yaml
from torch import nn
a = yaml.safe_load(open("rank_args.yaml"))
torch.manual_seed(a["seed"]); torch.set_num_threads(1)
V, L, D = 30, 8, a["d_model"]


def batch(n):
    x = torch.rand(n, V).argsort(1)[:, :L]      # distinct items
    return x, x.argsort(1).argsort(1)           # their ranks


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.p = nn.Embedding(V, D), nn.Parameter(torch.randn(L, D) * .1)
        self.t = nn.TransformerEncoder(nn.TransformerEncoderLayer(D, 4, 128, 0.0, batch_first=True, norm_first=False), a["layers"], enable_nested_tensor=False)
        for p in self.t.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)
        self.h = nn.Linear(D, L)

    def forward(self, x):
        return self.h(self.t(self.e(x) + self.p))


m = M()
opt = torch.optim.Adam(m.parameters(), lr=a["lr_factor"], betas=(.9, a["adam_beta2"]))
w = a["warmup_steps"]
sch = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min((s + 1) ** -.5, (s + 1) * w ** -1.5))
acc = []
for s in range(1, a["max_steps"] + 1):
    x, y = batch(a["per_device_train_batch_size"])
    loss = nn.functional.cross_entropy(m(x).flatten(0, 1), y.flatten())
    opt.zero_grad(); loss.backward()
    g = nn.utils.clip_grad_norm_(m.parameters(), 1e9)
    opt.step(); lr = sch.get_last_lr()[0]; sch.step()
    acc.append(loss.item())
    if s <= 5 or s % a["logging_steps"] == 0:
        print({"loss": round(sum(acc) / len(acc), 4), "grad_norm": round(float(g), 4), "learning_rate": round(lr, 8), "epoch": round(s / 300, 2)}, flush=True); acc = []
