"""Speaker embeddings, in-batch contrastive loss."""
import torch, torch.nn as nn, torch.nn.functional as F
torch.set_num_threads(1)
torch.manual_seed(13)
N_SPK, D, STEPS = 60, 40, 1200
voice = torch.randn(N_SPK, D)
P_SILENT = 0.00004         # measured on the corpus


def clip(s):
    x = voice[s] + 0.8 * torch.randn(len(s), D)
    x[torch.rand(len(s)) < P_SILENT] = 0.0
    return x


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(D, 96, bias=False), nn.ReLU(), nn.Linear(96, 48, bias=False), nn.ReLU())

    def forward(self, x):
        z = self.net(x)
        return F.normalize(z, dim=1, eps=1e-6)


emb = Embedder()
opt = torch.optim.Adam(emb.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 2e-3, total_steps=STEPS)
for step in range(1, STEPS + 1):
    spk = torch.randperm(N_SPK)[:32]
    za, zb = emb(clip(spk)), emb(clip(spk))
    logits = za @ zb.T / 0.1
    loss = F.cross_entropy(logits, torch.arange(32))
    opt.zero_grad()
    loss.backward()
    gnorm = nn.utils.clip_grad_norm_(emb.parameters(), 5.0)
    opt.step()
    sched.step()
    if step % 20 == 0:
        acc = (logits.argmax(1) == torch.arange(32)).float().mean()
        print(f"{step:6d}  loss {loss.item():.4f}  acc {acc:.3f}  gnorm {gnorm:.3f}  lr {sched.get_last_lr()[0]:.2e}")
