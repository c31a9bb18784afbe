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

GROUPS: dict[str, tuple[str, ...]] = {
    "lr": (*RATE_NAMES, "eta", "eta0", "lernrate", "adam_lr", "sgd_lr", "lr_init", "init_lr", "start_lr", "lr_max"),
    "generator_lr": ("lr_g", "g_lr", "gen_lr", "lr_gen", "generator_lr"),
    "discriminator_lr": ("lr_d", "d_lr", "disc_lr", "lr_disc", "discriminator_lr", "critic_lr", "lr_critic"),
    "discriminator_steps": ("d_steps", "n_critic", "d_iters", "critic_iters", "critic_steps", "disc_steps"),
    "batch_size": (
        "batch_size", "per_device_train_batch_size", "train_batch_size", "micro_batch_size", "batchsize", "bs", "batch",
        "train_micro_batch_size_per_gpu", "mini_batch_size", "minibatch_size", "samples_per_gpu",
    ),
    "accumulation": (
        "gradient_accumulation_steps", "accumulate_grad_batches", "grad_accum_steps", "accumulation_steps",
        "grad_accum", "accum_steps", "accum_iter", "gradient_accumulation",
    ),
    "epochs": EPOCH_NAMES,
    "steps": (*STEP_NAMES, "n_iter", "n_iters", "iterations", "num_iterations", "max_iter", "train_iters"),
    "weight_decay": ("weight_decay", "wd", "l2", "l2_lambda", "l2_reg", "l2_penalty", "lambda_l2", "decay_lambda"),
    "dropout": (
        "dropout", "dropout_rate", "drop_rate", "p_drop", "hidden_dropout_prob", "dropout_p", "p_dropout",
    ),
    "clip": (
        "max_grad_norm", "gradient_clip_val", "clip_grad_norm", "grad_clip", "grad_clip_norm", "clip_norm", "clip_grad",
        "gradient_clipping", "clip", "max_norm", "clipnorm",
    ),
    "warmup_steps": (
        "warmup_steps", "num_warmup_steps", "warmup_iters", "warmup_updates", "lr_warmup_steps", "n_warmup_steps",
        "lr_warmup_iters", "warmup",
    ),
    "warmup_ratio": ("warmup_ratio", "warmup_fraction", "warmup_proportion", "lr_warmup_fraction", "pct_start"),
    "warmup_epochs": ("warmup_epochs", "lr_warmup_epochs"),
    "patience": (
        "patience", "early_stopping_patience", "early_stop_patience", "early_stopping", "early_stop", "es_patience",
    ),
    "horizon": (
        "t_max", "decay_steps", "lr_decay_steps", "lr_decay_iters", "decay_iters", "lr_total_steps", "cosine_steps",
        "num_training_steps", "decay_epochs", "cycle_steps", "total_iters", "scheduler_steps", "schedule_steps",
        "sched.step_size", "lr.step_size", "lr_step_size", "lr_horizon", "anneal_steps", "lr_t_max", "lr_steps",
    ),
    "restart_factor": ("restart_multiplier", "restart_factor", "restart_mult", "restart_scale", "cycle_multiplier"),
    "decay_factor": ("sched.gamma", "lr.gamma", "lr_gamma", "lr_decay", "lr_decay_rate", "decay_rate", "decay_factor"),
    "fp16": ("fp16", "use_fp16", "half", "fp16_enabled"),
    "bf16": ("bf16", "use_bf16"),
    "precision": (
        "precision", "mixed_precision", "amp_dtype", "dtype", "torch_dtype", "autocast_dtype", "compute_dtype", "amp",
    ),
    "init_std": ("init_std", "initializer_range", "weight_init_std", "init.std", "w_std"),
    "init_gain": ("gain", "init_gain"),
    "activation": ("activation", "act", "hidden_activation", "nonlinearity", "hidden_act", "activation_function"),
    "width": (
        "hidden", "hidden_size", "hidden_dim", "width", "d_model", "units", "channels", "n_hidden", "latent_dim",
        "embedding_dim", "embed_dim", "n_embd",
    ),
    "kl_weight": (
        "kl_weight", "beta", "kl_coef", "kl_loss_coef", "init_kl_coef", "kl_ctl", "lambda_kl", "kl_beta", "w_kl",
        "kl_scale", "kld_weight",
    ),
    "free_bits": ("free_bits", "free_nats", "kl_free_bits"),
    "workers": ("num_workers", "dataloader_num_workers", "n_workers", "num_data_workers", "workers"),
    "replay": ("replay_fraction", "replay_ratio", "replay", "mix_original", "rehearsal", "rehearsal_ratio", "mix_old"),
}  # fmt: skip
"""a setting that a fix may change -> what people call it, the plainest name first; `lr.gamma` is a `gamma` below
something with `lr` in its name"""
_NOT_BELOW = {"patience": ("lr", "sched", "plateau")}
"""a scheduler's patience stops nothing"""


def rank_in(key: str, group: str) -> int | None:
    """The place of a key among the names of a group of settings; None where it does not belong to it."""
    above = re.sub(r"[-_]", "", key.rpartition(".")[0].lower())
    if any(word in above for word in _NOT_BELOW.get(group, ())):
        return None
    for place, name in enumerate(GROUPS[group]):
        parent, _, last = name.rpartition(".")
        if plain(key) == plain(last) and parent in above:
            return place
    return None


def plain(key: str) -> str:
    """The last word of a key without case, hyphens and underscores: `Optimizer.base-LR[0]` is `baselr`."""
    return re.sub(r"\[\d+\]$", "", key).rsplit(".", 1)[-1].lower().replace("_", "").replace("-", "")
