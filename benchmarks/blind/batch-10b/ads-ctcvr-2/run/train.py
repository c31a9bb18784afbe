import torch

from cvr_model import CVR, joint_loss

torch.manual_seed(0)
g = torch.Generator().manual_seed(21)
N = 6000
item = torch.randint(0, 200, (N,), generator=g)
feat = torch.randn(N, 8, generator=g)
click = (feat[:, 0] + 0.5 * feat[:, 1] + 0.01 * (item - 100.0) > 0).float()
conv = click * (feat[:, 2] > 0.2).float()
model = CVR()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
step = 0
for epoch in range(1, 13):
    batches = torch.randperm(N, generator=g).split(100)
    for i, b in enumerate(batches):
        losses = joint_loss(*model(item[b], feat[b]), click[b], conv[b])
        opt.zero_grad()
        losses[0].backward()
        opt.step()
        step += 1
        if step % 20 == 0:
            print(f"epoch {epoch:2d} step {step:4d}  total {losses[0]:.4f}  click {losses[1]:.4f}  conv {losses[2]:.4f}", flush=True)
