import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
dtype = torch.float16          # whole model in half, saves memory
LR, STEPS = 0.005, 600


def spectra(n, seed):
    g = torch.Generator().manual_seed(seed)
    conc = torch.rand(n, 6, generator=g) * 2
    basis = torch.rand(6, 64, generator=torch.Generator().manual_seed(77))
    x = conc @ basis + 0.05 * torch.randn(n, 64, generator=g)
    # counts per second of the two reference compounds
    y = torch.stack([conc[:, 0] * 200 + 40 * conc[:, 2], conc[:, 1] * 150 + 30], 1)
    return x, y


model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)).to(dtype)
opt = torch.optim.SGD(model.parameters(), lr=LR)
x, y = spectra(2048, 1)
for step in range(STEPS):
    i = torch.randint(0, len(x), (64,))
    pred = model(x[i].to(dtype))
    err = (pred - y[i].to(dtype)) ** 2
    loss = torch.sqrt(err.mean())   # RMSE
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print(f"step {step:4d} loss {loss.item():.3f} dtype={loss.dtype} max|pred|={pred.abs().max().item():.2f} max err^2={err.max().item():.1f}")
