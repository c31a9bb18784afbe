import json
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(5)
T, H, N = 50, 32, 600
LR, MOMENTUM = 3e-3, 0.9
CLIP = None


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(1, H, nonlinearity="relu", batch_first=True)
        nn.init.orthogonal_(self.rnn.weight_hh_l0, gain=0.7)
        self.out = nn.Linear(H, 1)

    def forward(self, x):
        return self.out(self.rnn(x)[0])


def batch(n=32):
    """voiced-frame energies; the target is the energy accumulated so far"""
    v = torch.rand(n, T, 1) * (torch.rand(n, T, 1) < 0.3)
    return v, v.cumsum(1)


net = Counter()
opt = torch.optim.SGD(net.parameters(), lr=LR, momentum=MOMENTUM)
f = open("hist.jsonl", "w")
for it in range(N):
    for g in opt.param_groups:
        g["lr"] = LR * (1 - 0.95 * it / N)
    x, y = batch()
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    gn = torch.sqrt(sum(p.grad.pow(2).sum() for p in net.parameters()))
    if CLIP:
        nn.utils.clip_grad_norm_(net.parameters(), CLIP)
    opt.step()
    f.write(json.dumps(dict(it=it, mse=round(loss.item(), 5), gnorm=round(gn.item(), 4))) + "\n")
    if not torch.isfinite(loss):
        break
