"""What the hyper-parameters say, one question per file."""

from traindx.curves.hyper.clipping import clipping
from traindx.curves.hyper.precision import precision
from traindx.curves.hyper.rate import fine_tuning, logged_rate, unusual_rate
from traindx.curves.hyper.regularisation import regularisation
from traindx.curves.hyper.schedule import at_the_break, stalled
from traindx.curves.hyper.size import batch, capacity
from traindx.curves.hyper.warmup import warmup

__all__ = [
    "at_the_break",
    "batch",
    "capacity",
    "clipping",
    "fine_tuning",
    "logged_rate",
    "precision",
    "regularisation",
    "stalled",
    "unusual_rate",
    "warmup",
]
