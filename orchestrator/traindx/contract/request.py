"""What is known about a request once its words have been read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Quantity:
    """A number the user gives, e.g. `loss` 0.48; `text` is the passage it was read from, to the letter."""

    name: str
    value: float
    unit: str
    text: str


@dataclass(frozen=True)
class Mentions:
    """What the message names: places, numbers, errors, layers, and the causes its author guesses at."""

    epochs: tuple[float, ...] = ()
    steps: tuple[int, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    errors: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    suspicions: tuple[str, ...] = ()


@dataclass(frozen=True)
class AgentBrief:
    """A specialist of the user's own: it is matched by the words of its description."""

    name: str
    description: str


@dataclass(frozen=True)
class Ranked:
    """A specialist, how well it fits (the scores of a ranking sum to at most 1), and why."""

    specialist: str
    score: float
    reason: str


@dataclass(frozen=True)
class Reported:
    """A kind of trouble that the user says there was, rather than guessing at it; `said` is the symptom in words."""

    kind: str
    said: str


@dataclass(frozen=True)
class Request:
    """A request, understood. `kind` is a key of `KINDS`; `ranking` is never empty, best first."""

    message: str
    kind: str
    about_training: bool
    symptoms: tuple[str, ...]
    mentions: Mentions
    ranking: tuple[Ranked, ...]
    reason: str
    reported: tuple[Reported, ...] = ()
