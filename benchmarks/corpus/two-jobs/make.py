import sys
import torch
import torch.nn as nn

job = int(sys.argv[1])
torch.manual_seed(3 + job)
V, T = 32, 20
g = torch.Generator().manual_seed(0)
nxt = torch.softmax(3 * torch.randn(V, V, generator=g), -1)


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.r, self.o = nn.Embedding(V, 32), nn.GRU(32, 64, batch_first=True), nn.Linear(64, V)

    def forward(self, x):
        return self.o(self.r(self.e(x))[0])


net = M()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
WHICH = "model_0030.pt"
start, stop = 0, 1000
print("=" * 60)
print("GPU: NVIDIA A100-SXM4-40GB  world size 1")
if job:
    c = torch.load("ckpt_last.pt" if WHICH == "last" else WHICH)
    net.load_state_dict(c["model"])
    if WHICH == "last":
        opt.load_state_dict(c["opt"])
    start, stop = 1000, 2000
    print("=> loaded checkpoint (resume)")
for it in range(start, stop):
    x = [torch.randint(V, (32,))]
    for _ in range(T):
        x.append(torch.multinomial(nxt[x[-1]], 1).squeeze(1))
    x = torch.stack(x, 1)
    loss = nn.functional.cross_entropy(net(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it == 30:
        torch.save({"model": net.state_dict()}, "model_0030.pt")
    if it % 10 == 0:
        print(f"Iter: [{it:4d}/2000]  Loss {loss.item():.4f}")
torch.save({"model": net.state_dict(), "opt": opt.state_dict()}, "ckpt_last.pt")
print("=> saved checkpoint")
if not job:
    print("slurmstepd: error: *** JOB 51002 ON node14 CANCELLED AT 2025-02-03T11:00:21 DUE TO TIME LIMIT ***")
