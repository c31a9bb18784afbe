batch_size = 24
block = 32
n_embd = 48
n_layer = 1
lr = 2e-3
warmup = 40
grad_clip = 1.0
max_iters = 700
