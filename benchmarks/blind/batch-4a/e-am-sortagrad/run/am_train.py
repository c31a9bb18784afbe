import sys, yaml, math, time
import torch, torch.nn as nn, torch.nn.functional as F
torch.set_num_threads(1)
cfg = yaml.safe_load(open("asr.yaml"))
torch.manual_seed(cfg["seed"])
dt = {"float16": torch.float16, "float32": torch.float32, "bfloat16": torch.bfloat16}[cfg["loss_dtype"]]
V = 40


def utterances(n, lo, hi):
    """frame labels; observed features are noisy label embeddings"""
    return sorted(torch.randint(lo, hi, (n,)).tolist())


EMB = torch.randn(V, 16)


def batch(lens):
    T = max(lens)
    y = torch.randint(0, V, (len(lens), (T + 3) // 4)).repeat_interleave(4, 1)[:, :T]
    m = torch.arange(T)[None] < torch.tensor(lens)[:, None]
    return EMB[y] + 2.5 * torch.randn(len(lens), T, 16), y, m


class AM(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Sequential(nn.Conv1d(16, 48, 5, padding=2), nn.ReLU(), nn.Conv1d(48, 48, 5, padding=2), nn.ReLU())
        self.o = nn.Linear(48, V)

    def forward(self, x):
        return self.o(self.c(x.transpose(1, 2)).transpose(1, 2))


net = AM()
opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"])
L = utterances(cfg["utts"], 40, 1200)
B = cfg["batch"]; nb = len(L) // B; step = 0
for ep in range(cfg["epochs"]):
    order = list(range(nb)) if ep == 0 and cfg["sortagrad"] else torch.randperm(nb).tolist()
    for b in order:
        for gr in opt.param_groups: gr["lr"] = cfg["lr"] * max(0.05, 1 - step / (nb * cfg["epochs"]))
        x, y, m = batch(L[b * B:(b + 1) * B]); n = m.sum()
        ce = F.cross_entropy(net(x)[m], y[m], reduction="none").to(dt)
        loss = ce.sum()
        if not torch.isfinite(loss):
            print(f"epoch {ep} step {step + 1:4d} frames {n.item():6d} maxlen {y.shape[1]:4d}: Loss is {loss.item()}, stopping training", flush=True)
            sys.exit(1)
        opt.zero_grad(); (loss / B).backward()
        gn = nn.utils.clip_grad_norm_(net.parameters(), 400.0); opt.step(); step += 1
        if step % 2 == 0 or step < 20:
            print(f"epoch {ep} step {step:4d} frames {n.item():6d} maxlen {y.shape[1]:4d} loss_sum {loss.item():.1f} loss/frame {loss.item() / n.item():.4f} grad {gn:.2f}", flush=True)
    x, y, m = batch([400] * 16)
    with torch.no_grad(): o = net(x)
    print(f"epoch {ep} dev: nll {F.cross_entropy(o[m], y[m]):.4f} frame_err {(o[m].argmax(1) != y[m]).float().mean():.4f}", flush=True)
