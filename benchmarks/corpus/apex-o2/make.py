import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(10)
print("Selected optimization level O2:  FP16 training with FP32 batchnorm and FP32 master weights.")
print("Defaults for this optimization level are:\nenabled                : True\nopt_level              : O2\nloss_scale             : dynamic")
m = nn.Sequential(nn.Linear(48, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 12))
h = copy.deepcopy(m).half()
opt = torch.optim.SGD(m.parameters(), lr=0.05, momentum=0.9)
proto = torch.randn(12, 48)
scale, good = 2.0 ** 24, 0
for it in range(1, 1301):
    y = torch.randint(12, (64,))
    x = proto[y] + 1.4 * torch.randn(64, 48)
    for a, b in zip(h.parameters(), m.parameters()):
        a.data.copy_(b.data)
    loss = F.cross_entropy(h(x.half()).float(), y)
    h.zero_grad()
    (loss * scale).backward()
    if all(torch.isfinite(p.grad).all() for p in h.parameters()):
        for a, b in zip(h.parameters(), m.parameters()):
            b.grad = a.grad.float() / scale
        opt.step()
        good += 1
        if good % 300 == 0:
            scale *= 2
    else:
        scale, good = scale / 2, 0
        print(f"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {scale}")
    if it % 20 == 0:
        print(f"Epoch: [0][{it}/1300]\tLoss {loss.item():.4f}")
