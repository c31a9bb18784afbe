"""What a metric is called: `Loss/train`, `training_loss` and `loss` are one thing, `loss_scale` is another."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from traindx.vocabulary.unspaced import in_english

Kind = Literal["epoch", "step", "loss", "accuracy", "score", "rate", "norm", "cost", "phase", "other"]

_PHASES = {
    "train": "train",
    "training": "train",
    "trn": "train",
    "tr": "train",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "validate": "val",
    "eval": "val",
    "evaluation": "val",
    "dev": "val",
    "heldout": "val",
    "holdout": "val",
    "vali": "val",
    "va": "val",
    "validacion": "val",
    "validacao": "val",
    "validierung": "val",
    "pruef": "val",
    "dogrulama": "val",
    "egitim": "train",
    "validatie": "val",
    "\u9a8c\u8bc1": "val",
    "\u8bad\u7ec3": "train",
    "entrenamiento": "train",
    "treino": "train",
    "entrainement": "train",
    "test": "test",
    "testing": "test",
    "te": "test",
    "tst": "test",
}
_EPOCH = {
    "epoch",
    "ep",
    "pass",
    "epoche",
    "epoca",
    "epoque",
    "sweep",
    "epok",
    "donem",
    "\u0435\u043f\u043e\u0445\u0430",
    "\u044d\u043f\u043e\u0445\u0430",
    "epochs done",
    "current epoch",
    "train epoch",
    "training epoch",
    "num epoch",
}
_STEP = {
    "schritt", "paso", "upd", "updates", "passo", "pas", "adim", "stap", "\u6b65", "\u0448\u0430\u0433",
    "iteracion", "etape", "step", "steps", "global step", "train step", "training step", "trainer global step",
    "optimizer step", "opt step", "update step",
    "iter", "iteration", "iters", "n iter", "iter num", "num iter", "cur iter", "curr iter",
    "current iter", "current iteration", "current step", "cur step", "it", "itr", "global iter", "global iteration",
    "update", "num updates",
    "episode", "round", "batch", "minibatch", "batch idx", "train batch",
    "timestep", "timesteps", "total timesteps", "samples seen",
}  # fmt: skip
_COUNTER_GROUPS = {"time", "trainer", "progress", "train", "valid", "val", "eval", "test"}
# Said of a loss, these words change how it was averaged, not what it is.
_AVERAGES = {
    "average", "avg", "mean", "total", "running", "smoothed", "smooth", "ema", "batch", "epoch", "step", "final",
    "current", "cur", "overall", "metrics", "metric", "set", "global", "interval", "minibatch", "objective", "lm",
    "tot", "mittlerer", "mittlere", "durchschnittlicher", "moyenne", "media", "medio", "promedio", "gemiddelde",
}  # fmt: skip
# Said behind a loss, these words change what it is counted per.
_PER = {"per", "frame", "tok", "token", "char", "word", "sum", "sample", "dim", "seq", "pixel", "item", "example"}
_LOSSES = {
    "nce", "infonce", "verlust", "perte", "perdida", "perda", "perdita", "kayip", "kaybi", "verlies",
    "strata", "\u635f\u5931", "\uc190\uc2e4", "\u043f\u043e\u0442\u0435\u0440\u0438", "triplet", "contrastive",
    "hinge", "huber",
    "focal", "cost", "coste", "custo", "kosten", "logloss", "crossentropy", "recon", "reconstruction", "rec", "ctc",
    "mape", "smape", "wape", "wmape", "mase", "crps", "msle", "rmsle", "nrmse", "nmse", "pinball", "brier", "xe", "bpd",
    "lpips", "nelbo", "nll", "ce", "xent", "bce", "mse", "mae", "rmse", "l1", "ppl", "perplexity", "bpb", "bpc", "kl",
    "kld", "elbo",
}  # fmt: skip
_ACCURACIES = {
    "acc", "accuracy", "categorical accuracy", "sparse categorical accuracy",
    "genauigkeit", "dogruluk", "exactitud", "exactitude", "acuracia", "accuratezza", "nauwkeurigheid",
    "\u51c6\u786e\u7387", "\u7cbe\u5ea6", "\uc815\ud655\ub3c4",
}  # fmt: skip
_SCORES = {
    "f1", "fb1", "auc", "auroc", "roc", "precision", "recall", "bleu", "rouge", "miou", "iou", "map", "dice", "wer",
    "cer", "top1", "top5", "err", "error", "reward", "rew", "return", "r2", "fid", "psnr", "ssim", "mcc", "em",
}  # fmt: skip
_COSTS = {
    "time", "ms", "s", "sec", "secs", "second", "seconds", "min", "mins", "eta", "elapsed", "dt", "runtime", "it",
    "its", "tok", "toks", "token", "tokens", "samples", "sample", "examples", "images", "img", "speed", "throughput",
    "gb", "mb", "gib", "mib", "kb", "bytes", "mem", "memory", "gpu", "cpu", "mfu", "flops", "tflops", "tps", "wps",
    "ups", "wall", "hours", "remaining", "duration", "timestamp", "pid", "rank", "params", "parameters",
}  # fmt: skip
_OPTIMIZERS = {
    "optimizer", "optim", "opt", "adam", "adamw", "sgd", "rmsprop", "adagrad", "nadam", "adafactor", "lion", "lamb",
    "group", "pg", "param", "current", "cur", "last", "train", "scheduler", "schedule", "new", "epoch", "step", "batch",
    "iter", "hparams", "hyper", "base", "global",
}  # fmt: skip
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")
_BREAKS = re.compile(r"[\W_]+")
_HELD_OUT = re.compile(r"\b(held|hold)[-_ ]out")
_NORM_GROUPS = {
    "epoch",
    "batch",
    "step",
    "opt",
    "optim",
    "optimizer",
    "trainer",
    "stats",
    "debug",
    "info",
    "monitor",
    "model",
    "grads",
}
_LIGHTNING_NORM = re.compile(r"grad \d(?: \d)? norm(?: total)?")
# `grad_norm/blocks.3.attn.weight`, `gradients/layer1.0.conv1`, `train/grad_2.0_norm/fc1.bias`.
_LAYER_GRADIENT = re.compile(
    r"(?:[a-z]{1,20}/)?(?:g|grad|grads|gradient|gradients|gnorm)(?:[_ ]?\d(?:\.\d)?)?(?:[_ ]?norms?)?"
    r"(?:/|_layer_?|[_ .](?=\w+\.))"
    r"(?=[\w./]{0,200}(?:\d|weight|bias|embed|head|layer|attn|mlp|conv|fc|norm))[A-Za-z_]?[\w./-]{1,200}$",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[A-Za-z][\w-]{0,60}")
_GROUP_NUMBER = re.compile(r"(?:pg|group|g)?\d{1,3}")


@dataclass(frozen=True)
class MetricName:
    """A metric's normalised name, and what kind of number it is."""

    name: str
    kind: Kind
    phase: str = ""
    """`train`, `val`, `test`, or empty where the name does not say"""


@lru_cache(maxsize=8192)
def normalise(original: str, hint: str = "") -> MetricName:
    """The metric behind a name; `hint` is the phase that the surroundings suggest when the name says none."""
    words = _words(original)
    if original.strip() in {"|g|", "||g||", "|grad|", "||grad||", "|∇|", "‖g‖"}:
        return MetricName("grad_norm", "norm")
    if not words:
        return MetricName(original.strip(), "other")
    # Loggers put counters into groups of their own: `time/total_timesteps`, `valid_num_updates`.
    ungrouped = " ".join(words[1:]) if len(words) > 2 and words[0] in _COUNTER_GROUPS else ""
    for joined in (" ".join(words), ungrouped):
        if joined in _EPOCH:
            return MetricName("epoch", "epoch")
        if joined in _STEP:
            return MetricName("step", "step")
    # `validation loss at iteration 400`: the number says when, not how much.
    if len(words) > 2 and words[-2] in {"at", "after"} and words[-1] in _STEP | _EPOCH:
        return MetricName("step", "step") if words[-1] in _STEP else MetricName("epoch", "epoch")
    said = next((_PHASES[word] for word in words if word in _PHASES), "")
    phase = said or hint
    rest = [word for word in words if word not in _PHASES]
    # `lm loss value` is the loss; `value_loss` is the loss of a value function.
    rest = rest[:-1] if len(rest) > 1 and rest[-1] == "value" else rest
    if not rest:
        return MetricName(f"{phase}/loss", "phase", phase)
    if _is_rate(rest):
        return MetricName("lr", "rate")
    if _is_norm(rest) or _is_layer_gradient(original):
        return MetricName("grad_norm" if _is_norm(rest) else "_".join(rest), "norm")
    bare = [word for word in rest if word not in _AVERAGES] or rest
    if len(bare) > 1 and (bare[0] in _LOSSES or bare[0] == "loss"):
        bare = [bare[0], *(word for word in bare[1:] if word not in _PER)]
    # `L_total`, `l_sum`: what mathematicians call the whole of a loss.
    if bare in (["loss"], ["losses"], ["l"]) and (bare != ["l"] or len(rest) > 1):
        return MetricName(f"{phase or 'train'}/loss", "loss", phase)
    if " ".join(bare) in _ACCURACIES:
        return MetricName(f"{phase or 'train'}/accuracy", "accuracy", phase)
    return _other(rest, bare, said, phase)


def _other(rest: list[str], bare: list[str], said: str, phase: str) -> MetricName:
    own = "_".join(rest)
    if bare[-1] in _COSTS or bare[0] in {"time", "eta"}:
        return MetricName(f"{said}/{own}" if said else own, "cost", said)
    if len(bare) == 1 and bare[0] in _LOSSES:
        return MetricName(f"{phase or 'train'}/{bare[0]}", "loss", phase)
    if bare[-1] in _LOSSES and bare[-1] not in {"l1", "rec"}:  # `active_l1` speaks of a layer
        return MetricName(f"{phase or 'train'}/{own}", "score", phase)
    if bare[0] in _SCORES or bare[-1] in _SCORES or bare[-1] in {"acc", "accuracy"}:
        return MetricName(f"{phase}/{own}" if phase else own, "score", phase)
    # A part of a loss (`d_loss`, `kl_loss`) is a metric, but it is not the loss.
    kind: Kind = "score" if "loss" in (bare[0], bare[-1]) else "other"
    if kind == "score" and bare[0] == "loss" and bare[-1] in {"scale", "weight", "every", "scaler"}:
        kind = "other"
    return MetricName(f"{said}/{own}" if said else own, kind, said)


def phase_in(text: str) -> str:
    """The phase that a stretch of text speaks of last (`Test set:`), or nothing."""
    said = [_PHASES[word] for word in _words(text) if word in _PHASES]
    return said[-1] if said else ""


def voice_in(text: str) -> str:
    """The compound word that says the phase last, e.g. `train_inner`; nothing where the phase stands alone."""
    for token in reversed(_TOKEN.findall(text)):
        words = _words(token)
        if any(word in _PHASES for word in words):
            return token if len(words) > 1 and normalise(token).kind == "other" else ""
    return ""


def _words(original: str) -> list[str]:
    original = in_english(original)
    if not original.isascii():  # `pérdida`, `époque`: without their accents
        original = unicodedata.normalize("NFKD", original)
        original = "".join(letter for letter in original if not unicodedata.combining(letter)).replace("\u0131", "i")
        original = unicodedata.normalize("NFC", original)
    spaced = _HELD_OUT.sub(r"\1out", _CAMEL.sub(" ", original.strip()).lower())
    return [word for word in _BREAKS.split(spaced) if word]


def _is_rate(words: list[str]) -> bool:
    joined = " ".join(words).replace("learning rate", "lr").replace("lernrate", "lr").split()
    others = [word for word in joined if word != "lr"]
    return "lr" in joined and all(word in _OPTIMIZERS or _GROUP_NUMBER.fullmatch(word) for word in others)


def _is_layer_gradient(original: str) -> bool:
    """Whether a name is that of one layer's gradient, of which a run may log hundreds."""
    return _LAYER_GRADIENT.match(original.strip()) is not None


def _is_norm(words: list[str]) -> bool:
    # Loggers put it into a group of their own: `opt/grad_norm`.
    joined = " ".join(words[1:] if len(words) > 2 and words[0] in _NORM_GROUPS else words)
    return _LIGHTNING_NORM.fullmatch(joined) is not None or joined in {
        "grad norm", "gradient norm", "gradnorm", "gnorm", "total norm", "global norm", "global grad norm",
        "grad 2 norm total", "total grad norm", "grad norm total",
        "gradientennorm", "gradienten norm", "norme gradient", "norma gradiente", "norma del gradiente",
        "norme du gradient", "gn", "g norm", "grad", "grads norm", "gradients norm", "global gradient norm", "grad l2",
    }  # fmt: skip


_FLAG = re.compile(r"has_?(?:nan|inf)s?$", re.IGNORECASE)


def is_flag(name: str) -> bool:
    """Whether a metric says true or false of numbers that are none: `lstm_has_nan`."""
    return _FLAG.search(name) is not None


_MEMORY = re.compile(r"(?:^|[/_. ])(?:v?ram|rss|mem(?:ory)?(?![a-z]))", re.IGNORECASE)
_NOT_MEMORY = re.compile(r"loss|util|bandwidth|time|bank|cell", re.IGNORECASE)


def measures_memory(name: str) -> bool:
    """Whether a metric measures the memory of a process or a device, as far as its name says."""
    return _MEMORY.search(name) is not None and _NOT_MEMORY.search(name) is None


_HOST_SHARE = re.compile(r"(?:system|host)[/_. ]mem(?:ory)?[/_. ]percent$", re.IGNORECASE)


def measures_host_share(name: str) -> bool:
    """Whether a metric is the share of the host's memory that is in use, in percent."""
    return _HOST_SHARE.search(name) is not None
