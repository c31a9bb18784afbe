# train a small character-level model
out_dir = "out-chars"
eval_interval = 250
log_interval = 1
learning_rate = 6e-4
max_iters = 2000
lr_decay_iters = 300
min_lr = 0.0
warmup_iters = 50
