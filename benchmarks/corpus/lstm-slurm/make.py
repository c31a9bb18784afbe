import torch
import torch.nn as nn

torch.manual_seed(4)
CLIP = None
print("[rank0] starting, world_size=1, host=gpu-c03")
H, T, N = 16, 60, 500
W = nn.Parameter(0.6 * torch.linalg.qr(torch.randn(H, H)).Q)
b, o = nn.Parameter(0.3 * torch.randn(H)), nn.Parameter(0.3 * torch.randn(H))
opt = torch.optim.SGD([W, b, o], lr=0.01)
for step in range(1, N + 1):
    x = torch.randn(32, T)
    y = x.cumsum(1) / T ** 0.5
    h, loss = torch.zeros(32, H), 0.0
    for t in range(T):
        h = h @ W.t() + x[:, t:t + 1] * b
        loss = loss + (h @ o - y[:, t]).square().mean() / T
    opt.zero_grad()
    loss.backward()
    gn = nn.utils.clip_grad_norm_([W, b, o], CLIP or 1e30)
    opt.step()
    print(f"[rank0] step {step}/{N} loss {loss.item():.5g} gnorm {gn.item():.4g}", flush=True)
