"""What a parameter of a function probably is, where no call of it was found: told by its name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from traindx.program.values import Function, Guess, Layer, Made, Tensor, Value

if TYPE_CHECKING:
    from traindx.program.machine import Machine

_OPTIMIZER = re.compile(r"(?:^|_)(?:optim(?:izer|iser)?s?|opt)(?:_|$|\d)|^optim", re.IGNORECASE)
_SCHEDULER = re.compile(r"sched|^lr_s", re.IGNORECASE)
_SCALER = re.compile(r"^(?:grad_?)?scaler$", re.IGNORECASE)
_MODEL = re.compile(
    r"^(?:the_)?(?:model|net|network|module|encoder|decoder|generator|discriminator|critic|actor|policy|student|teacher"
    r"|backbone|classifier|rnn|lstm|gru|net[_]?[gd]|net_[a-z]|[GD]|gen|disc|ema_?model|policy_net|q_net|target_net)$"
)
_LOADER = re.compile(r"loader|(?:^|_)dl$|iterator|dataloader|^(?:train|val|test)_iter", re.IGNORECASE)
_CRITERION = re.compile(r"criterion|loss_?(?:fn|func|function)|^crit$|objective$", re.IGNORECASE)
_TENSOR = re.compile(
    r"^(?:x|y|xb|yb|inputs?|targets?|labels?|images?|data|batch_[xy]|logits|preds?|outputs?|hidden|state|h|c)$"
)
_EDGE = re.compile(r"eps|clamp|clip|safe|tiny|smooth(?!_?l1)|(?:^|[._])(?:delta|jitter|nugget|floor)$", re.IGNORECASE)
_ACCELERATOR = re.compile(r"^(?:accelerator|fabric)$", re.IGNORECASE)
_BUILDING = re.compile(r"net|model|build|mlp|make|forward|__call__", re.IGNORECASE)
_WEIGHTS = re.compile(r"[Ww](?:eights?)?_?(?:\d|[a-z]{1,3}|in|out|hidden)?")


def guessed_parameter(m: Machine, name: str, function: Function | None = None) -> Value:
    """A value of the kind that a name speaks of, of which nothing more is known."""
    place = m.place(function.node) if function is not None else None
    if name in {"self", "cls"}:
        return Guess("self")
    if _SCHEDULER.search(name):
        return Made(kind="scheduler", place=place, known=False)
    if _OPTIMIZER.search(name):
        return Made(kind="optimizer", place=place, known=False)
    if _SCALER.search(name):
        return Made(kind="scaler", place=place)
    if _ACCELERATOR.search(name):
        return Made(kind="accelerator", place=place)
    if _MODEL.search(name):
        layer = Layer(kind="?", place=place, guessed=True)
        m.trace.layers[layer.number] = layer
        return layer
    if _LOADER.search(name):
        return Made(kind="loader", place=place)
    if _CRITERION.search(name):
        return Made(kind="loss", fields={}, place=place)
    if _TENSOR.search(name):
        return Tensor(marks=frozenset({"argument"}))
    return Guess(name)


def looks_like_model(name: str) -> bool:
    """Whether a name is one that people give to models."""
    return _MODEL.search(name.rpartition(".")[2]) is not None


def looks_like_loss(name: str) -> bool:
    """Whether a name is one that people give to loss functions."""
    return _CRITERION.search(name.rpartition(".")[2]) is not None


def looks_like_optimizer(name: str) -> bool:
    """Whether a name is one that people give to optimizers."""
    last = name.rpartition(".")[2]
    return _OPTIMIZER.search(last) is not None and _SCHEDULER.search(last) is None


def looks_like_scheduler(name: str) -> bool:
    """Whether a name is one that people give to schedulers."""
    return _SCHEDULER.search(name.rpartition(".")[2]) is not None


def looks_like_building(name: str) -> bool:
    """Whether a name is one of a function that makes a model, or goes forward through one."""
    return _BUILDING.search(name) is not None


def looks_like_weights(name: str) -> bool:
    """Whether a name is one of a weight matrix in a network that is written out: `W1`, `w_hh`."""
    return _WEIGHTS.fullmatch(name) is not None


def keeps_from_the_edge(name: str) -> bool:
    """Whether a name is one of a small positive number, or of a function that keeps values off the edge."""
    return _EDGE.search(name) is not None
