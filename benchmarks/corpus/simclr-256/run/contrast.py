import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(5)
BS, TEMP, LR, STEPS = 256, 0.2, 2e-4, 1200
print(f"NT-Xent, batch {BS}, temp {TEMP}, lr {LR}")
enc = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 32))
enc[-1].weight.data *= 0.2
opt = torch.optim.AdamW(enc.parameters(), lr=LR, weight_decay=1e-4)
mix = torch.randn(6, 64)
for s in range(STEPS):
    lr = LR * min(1, (s + 1) / 500) ** 2
    for g in opt.param_groups: g["lr"] = lr
    c = torch.randn(BS, 6)
    a, b = (torch.tanh(c @ mix) + 1.0 * torch.randn(BS, 64) for _ in range(2))
    za, zb = F.normalize(enc(a), dim=1), F.normalize(enc(b), dim=1)
    sim = za @ zb.t() / TEMP
    loss = (F.cross_entropy(sim, torch.arange(BS)) + F.cross_entropy(sim.t(), torch.arange(BS))) / 2
    opt.zero_grad(); loss.backward(); opt.step()
    if s % 5 == 0: print(f"step {s:4d} nt_xent {loss.item():.4f} top1 {(sim.argmax(1) == torch.arange(BS)).float().mean():.3f} lr {lr:.2e}")
