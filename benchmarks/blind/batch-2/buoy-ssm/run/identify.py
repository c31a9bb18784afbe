import os, time, torch
from torch import nn
torch.manual_seed(3); torch.set_num_threads(1)
LR, CLIP, T, N, ITERS = 0.015, None, 80, 6, 500
rid = "5b1f0e6a4d3c4b58a0c2a1e7c9d4f210"
base = f"mlruns/0/{rid}"
for d in ("metrics", "params", "tags"):
    os.makedirs(f"{base}/{d}", exist_ok=True)
open("mlruns/0/meta.yaml", "w").write("artifact_location: mlruns/0\nexperiment_id: '0'\nlifecycle_stage: active\nname: Default\n")
open(f"{base}/meta.yaml", "w").write(f"artifact_uri: mlruns/0/{rid}/artifacts\nexperiment_id: '0'\nlifecycle_stage: active\nrun_id: {rid}\nrun_name: buoy\nstatus: 3\n")
open(f"{base}/tags/mlflow.source.name", "w").write("identify.py")
for k, v in dict(lr=LR, grad_clip=CLIP, window=T, order=N, optimizer="sgd", iters=ITERS).items():
    open(f"{base}/params/{k}", "w").write(str(v))


def log(k, v, s):
    with open(f"{base}/metrics/{k}", "a") as f:
        f.write(f"{int(time.time() * 1000)} {v} {s}\n")


th = torch.tensor(.25)
plant = .985 * torch.tensor([[th.cos(), -th.sin()], [th.sin(), th.cos()]])
A = nn.Parameter(torch.eye(N) * .7 + .05 * torch.randn(N, N))
B, C = nn.Parameter(.3 * torch.randn(N)), nn.Parameter(.3 * torch.randn(N))
ps = [A, B, C]
opt = torch.optim.SGD(ps, lr=LR)
for it in range(ITERS):
    u = torch.randn(16, T)
    xs, x, loss = torch.zeros(16, 2), torch.zeros(16, N), 0
    for t in range(T):
        xs = xs @ plant.T + u[:, t:t + 1] * torch.tensor([.3, .1])
        x = x @ A.T + u[:, t:t + 1] * B
        loss = loss + ((x @ C - xs[:, 0]) ** 2).mean() / T
    opt.zero_grad(); loss.backward()
    g = torch.sqrt(sum((p.grad ** 2).sum() for p in ps))
    if CLIP:
        nn.utils.clip_grad_norm_(ps, CLIP)
    opt.step()
    log("heave_mse", loss.item(), it)
    log("grad_l2", g.item(), it)
