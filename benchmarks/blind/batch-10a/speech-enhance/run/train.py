import torch
import torch.nn as nn
from losses import enhancement_loss, si_sdr

torch.set_num_threads(1)
torch.manual_seed(0)
N, T = 1200, 256


def clips(n):
    t = torch.arange(T) / T
    f = 3 + 12 * torch.rand(n, 1)
    clean = torch.sin(6.2832 * f * t + 6.2832 * torch.rand(n, 1)) * (0.2 + torch.rand(n, 1))
    # a few utterances are pauses, as in the real corpus
    clean[torch.rand(n) < 0.002] = 0.0
    return clean, clean + 0.5 * torch.randn(n, T)


clean, noisy = clips(N)
dev_clean, dev_noisy = clips(100)
net = nn.Sequential(nn.Conv1d(1, 16, 15, padding=7), nn.PReLU(), nn.Conv1d(16, 16, 15, padding=7), nn.PReLU(), nn.Conv1d(16, 1, 15, padding=7))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
step = 0
for epoch in range(6):
    for idx in torch.randperm(N).split(16):
        est = net(noisy[idx].unsqueeze(1)).squeeze(1)
        loss = enhancement_loss(est, clean[idx])
        opt.zero_grad()
        loss.backward()
        gn = nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        opt.step()
        step += 1
        if step % 5 == 0:
            print(f"Epoch {epoch} | step {step} | -SI-SDR {loss.item():.3f} | grad {gn:.3f}")
    with torch.no_grad():
        d = si_sdr(net(dev_noisy.unsqueeze(1)).squeeze(1), dev_clean)
    print(f"Epoch {epoch} | dev SI-SDR {d.mean().item():.2f} dB")
