"""The closed set of things a request can be about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

STATE, MONITOR, DEBUGGER = "state-debugger", "training-monitor", "ml-debugger"

SPECIALISTS: Mapping[str, str] = MappingProxyType(
    {
        STATE: "follows recurrent state through the loop",
        MONITOR: "reads curves, gradients and hyper-parameters",
        DEBUGGER: "reads errors, code, data, outputs and infrastructure",
    }
)


@dataclass(frozen=True)
class Kind:
    """A kind of trouble: who leads, who may follow, and which artifacts are needed to judge it.

    `symptom` is the sentence for the context package; a place such as ` at epoch 7` is appended to it.
    """

    name: str
    meaning: str
    leads: str
    follows: tuple[str, ...]
    needs: tuple[str, ...]
    symptom: str


_INITIALS = {"S": STATE, "T": MONITOR, "M": DEBUGGER}

# name, who (the lead first; S state-debugger, T training-monitor, M ml-debugger), needs, meaning, symptom.
# Where two kinds score the same, the earlier row wins: specific before general.
_TABLE = """
out-of-memory | M S | errors memory settings code | device or host memory ran out | Memory ran out
memory-growth | M S | memory code errors | memory rises step by step | Memory grows during training
state-handling | S M | code errors memory | recurrent state: detach, reset, carry, shape, norms | \
    Handling of the recurrent state is in question
cuda-error | M | errors settings | an error from the GPU, its driver or its libraries | CUDA error
distributed | M | errors code settings | ranks, collectives or nodes do not work together | \
    Distributed training failed
mode-collapse | M T | outputs code checkpoints series | outputs repeat one token, class or sample | \
    Outputs collapsed to one token, class or sample
gan-balance | M T | series code outputs | generator and discriminator are out of balance | \
    Generator and discriminator are out of balance
exploding-gradients | T M S | series settings code | gradients grow by orders of magnitude | Gradients exploded
vanishing-gradients | T M S | series code checkpoints | gradients fade on the way to the early layers | \
    Gradients vanished
non-finite | M T S | series errors code data checkpoints | NaN or Inf in loss, gradients, weights or outputs | \
    Values became NaN or Inf
forgetting | T M | series settings data | an older task gets worse while a new one is learned | \
    An older task is forgotten
overfitting | T M | series settings data | validation gets worse while training gets better | \
    Validation falls behind training
resume | T M | series checkpoints settings | the run changed where it was resumed | \
    The run changed after it was resumed
divergence | T M | series settings code | the loss rises, or a metric falls, and does not come back | Loss diverged
oscillation | T M | series settings | the loss jumps around without a trend | Loss oscillates
plateau | T M S | series settings code | the loss has stopped falling, or falls too slowly | Loss stopped improving
not-learning | T M S | series code data settings | nothing is learned from the start | The model does not learn
evaluation | M T | code data series | metrics that are too good, inconsistent or not reproducible | \
    Evaluation results cannot be trusted
training-code | M T | code errors series | a step of the loop does not do what it should | \
    A step of the training loop misbehaves
architecture | M T | code checkpoints outputs | parts of the model are out of proportion or wired wrongly | \
    The architecture is in question
checkpoint | M T | checkpoints errors code | saving or loading weights | A checkpoint is in question
data | M T | data code errors | samples, labels, splits or the pipeline that feeds them | The data is in question
environment | M | errors settings | packages, versions, drivers, containers | The environment is incompatible
interrupted | M | errors settings | the scheduler, a limit or a person ended the run | \
    The run was ended from outside
hang | M | errors code settings | the run hangs without an error | The run hangs
slow-training | T M | series settings code | steps or epochs take too long | Training is slow
crash | M S | errors code settings | the run ended with an error | The run crashed
hyperparameters | T | settings series code | what a setting should be | A setting is in question
review | M T S | code settings | a review of code or configuration before the run starts | A review was requested
check-up | T M | series errors settings | is this run healthy? | A check of the run was requested
unclear | M T S | series errors code settings | neither message nor artifacts say what is wrong |
not-about-training | M | | not a question about a training run |
"""


def _row(line: str) -> Kind:
    name, who, needs, meaning, symptom = (cell.strip() for cell in line.split("|"))
    leads, *follows = (_INITIALS[initial] for initial in who.split())
    return Kind(name, meaning, leads, tuple(follows), tuple(needs.split()), symptom)


KINDS: Mapping[str, Kind] = MappingProxyType(
    {kind.name: kind for kind in map(_row, filter(str.strip, _TABLE.splitlines()))}
)

WISHES = frozenset({"check-up", "review", "hyperparameters", "unclear", "not-about-training"})
"""kinds of requests that report no trouble"""

WANTED = {
    "series": "What did the loss do? Add the training log or metrics file; it needs at least four logged values",
    "errors": "What did the run print last? Add its output: `python train.py 2>&1 | tee train.log`",
    "code": "What does the training loop look like? Add the training script and the model code to the folder",
    "settings": "Which settings did the run use? Add the config file or the full command line",
    "memory": "How does memory grow? Log `torch.cuda.memory_allocated()`, or the process's resident size, per step",
    "outputs": "What does the model output? Add a file with ten inputs and the outputs they gave",
    "checkpoints": "Which checkpoint do you mean? Put it, or its path, in the folder",
    "data": "What does the data look like? Add one saved batch: `torch.save(next(iter(loader)), 'batch.pt')`",
}
"""how to supply what a kind of trouble is judged by"""
