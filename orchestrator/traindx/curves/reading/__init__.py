"""What a single curve says, one question per file."""

from traindx.curves.reading.accuracy import accuracy
from traindx.curves.reading.baseline import baseline
from traindx.curves.reading.breaks import breaks
from traindx.curves.reading.chance import at_chance
from traindx.curves.reading.completion import completion
from traindx.curves.reading.learning import learning
from traindx.curves.reading.restlessness import restlessness
from traindx.curves.reading.rhythm import rhythm
from traindx.curves.reading.start import start
from traindx.curves.reading.validation import validation

__all__ = [
    "accuracy",
    "at_chance",
    "baseline",
    "breaks",
    "completion",
    "learning",
    "restlessness",
    "rhythm",
    "start",
    "validation",
]
