"""What settings are called: learning rate, clipping, epochs and the like, under every name people give them."""

from __future__ import annotations

import re

RATE_NAMES = ("lr", "learning_rate", "base_lr", "lr0", "peak_lr", "initial_lr", "max_lr")
"""a rate for all parameters, the plainest name first"""
RATE_SYMBOLS = frozenset({"lr", "learning_rate", "step_size", "eta", "alpha"})
"""what a rate is called in a formula"""
EPOCH_NAMES = ("epochs", "num_epochs", "max_epochs", "n_epochs", "num_train_epochs", "train_epochs")
STEP_NAMES = ("max_steps", "total_steps", "num_steps", "n_steps", "steps", "max_iters", "iters", "num_training_steps")

RATE = re.compile(
    r"(?:^|[^a-z])(?:lrs?|learning_?rates?|peaks?|rates?)(?:[^a-z]|$)|max_lr|base_lr|lr$|(?:^|\.)eta0?$", re.IGNORECASE
)
CLIP = re.compile(r"clip|max_grad_norm|max_norm", re.IGNORECASE)
OPTIMIZER = re.compile(r"optim|(?:^|\.)opt(?:imizer)?(?:_name|\.name|\.type)?$", re.IGNORECASE)
SCHEDULER = re.compile(
    r"(?:^|[._])(?:lr_?)?sched(?:uler|ule)?(?:[._](?:type|name|kind))?$|lr_scheduler_type$|lr_decay_style$"
)

SPOKEN = {
    "learning rate": "lr", "learning_rate": "lr", "base_lr": "lr", "max_lr": "lr", "peak learning rate": "lr",
    "peak lr": "lr", "step size": "lr", "batch size": "batch_size", "weight decay": "weight_decay",
    "wd": "weight_decay",
    "gradient clipping": "clip", "clip norm": "clip", "max_grad_norm": "clip", "grad_clip": "clip", "clipping": "clip",
    "gradient clip": "clip", "clip threshold": "clip", "warmup steps": "warmup_steps", "warm-up steps": "warmup_steps",
    "warmup": "warmup_steps", "epochs": "epochs", "num_epochs": "epochs", "max_epochs": "epochs", "bs": "batch_size",
    "train_batch_size": "batch_size", "dropout rate": "dropout", "momentum": "momentum",
}  # fmt: skip
"""how a fix spells a setting -> the one name that stands for it"""
