"""
Small GPT on a character stream. Run: python train.py config/train_chars.py [--key=value]
"""
import math, os, pickle, sys, time
import torch
import torch.nn as nn
import torch.nn.functional as F

out_dir = "out"; init_from = "scratch"; eval_interval = 250; log_interval = 10; eval_iters = 10
batch_size = 12; block_size = 32; n_layer = 2; n_head = 4; n_embd = 48; vocab = 48
learning_rate = 1e-3; max_iters = 2000; weight_decay = 1e-1; beta1 = 0.9; beta2 = 0.99; grad_clip = 1.0
decay_lr = True; warmup_iters = 100; lr_decay_iters = 2000; min_lr = 1e-4; seed = 1337
for a in sys.argv[1:]:
    if a.startswith("--"):
        k, v = a[2:].split("="); globals()[k] = type(globals()[k])(eval(v) if k not in ("init_from", "out_dir") else v)
        print(f"Overriding: {k} = {v}")
    else:
        print(f"Overriding config with {a}:"); src = open(a).read(); print(src); exec(src)
tokens_per_iter = batch_size * block_size
print(f"tokens per iteration will be: {tokens_per_iter:,}")
torch.manual_seed(seed)
g = torch.Generator().manual_seed(0)
tab = torch.softmax(2.6 * torch.randn(vocab, vocab, generator=g), -1)
s = [0, 1]
for _ in range(40000):
    s.append(int(torch.multinomial(tab[s[-1]], 1, generator=g)))
data = torch.tensor(s); train_data, val_data = data[:36000], data[36000:]


def get_batch(split):
    d = train_data if split == "train" else val_data
    ix = torch.randint(len(d) - block_size - 1, (batch_size,))
    b = torch.stack([d[i:i + block_size + 1] for i in ix])
    return b[:, :-1], b[:, 1:]


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, n_embd), nn.Embedding(block_size, n_embd)
        self.h = nn.TransformerEncoder(nn.TransformerEncoderLayer(n_embd, n_head, 4 * n_embd, 0.0, "gelu", norm_first=True, batch_first=True), n_layer, nn.LayerNorm(n_embd), enable_nested_tensor=False)
        self.lm_head = nn.Linear(n_embd, vocab, bias=False)
        nn.init.normal_(self.wte.weight, std=0.02); nn.init.normal_(self.wpe.weight, std=0.02); nn.init.normal_(self.lm_head.weight, std=0.02)

    def forward(self, x, y):
        m = torch.triu(torch.full((block_size, block_size), float("-inf")), 1)
        return F.cross_entropy(self.lm_head(self.h(self.wte(x) + self.wpe(torch.arange(block_size)), m, is_causal=True)).flatten(0, 1), y.flatten())


def get_lr(it):
    if it < warmup_iters:
        return learning_rate * (it + 1) / (warmup_iters + 1)
    if it > lr_decay_iters:
        return min_lr
    r = (it - warmup_iters) / (lr_decay_iters - warmup_iters)
    return min_lr + 0.5 * (1.0 + math.cos(math.pi * r)) * (learning_rate - min_lr)


@torch.no_grad()
def estimate_loss():
    return [sum(model(*get_batch(sp)).item() for _ in range(eval_iters)) / eval_iters for sp in ("train", "val")]


model = GPT()
print(f"number of parameters: {sum(p.numel() for p in model.parameters())/1e6:.2f}M")
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=(beta1, beta2), weight_decay=weight_decay)
iter_num, best_val_loss = 0, 1e9
if init_from == "resume":
    print(f"Resuming training from {out_dir}")
    ck = torch.load(os.path.join(out_dir, "ckpt.pt")); model.load_state_dict(ck["model"]); iter_num = ck["iter_num"]; best_val_loss = ck["best_val_loss"]
t0 = time.time()
while True:
    lr = get_lr(iter_num) if decay_lr else learning_rate
    for pg in optimizer.param_groups:
        pg["lr"] = lr
    if iter_num % eval_interval == 0:
        tr, va = estimate_loss()
        print(f"step {iter_num}: train loss {tr:.4f}, val loss {va:.4f}")
        if va < best_val_loss and iter_num > 0:
            best_val_loss = va
            os.makedirs(out_dir, exist_ok=True); print(f"saving checkpoint to {out_dir}")
            torch.save({"model": model.state_dict(), "iter_num": iter_num, "best_val_loss": best_val_loss}, os.path.join(out_dir, "ckpt.pt"))
    loss = model(*get_batch("train"))
    loss.backward()
    if grad_clip:
        nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    dt = time.time() - t0; t0 = time.time()
    if iter_num % log_interval == 0:
        print(f"iter {iter_num}: loss {loss.item():.4f}, time {dt*1000:.2f}ms, lr {lr:.3e}")
    iter_num += 1
    if iter_num > max_iters:
        break
