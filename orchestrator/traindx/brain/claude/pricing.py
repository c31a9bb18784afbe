"""Which model answers, and what its tokens cost."""

from __future__ import annotations

from dataclasses import dataclass

ALIASES = {
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
    "fable": "claude-fable-5-2",
}
DEFAULT = "sonnet"
MILLION = 1_000_000


@dataclass(frozen=True)
class Usage:
    """Tokens of one call or of many."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.output + other.output,
        )

    @property
    def total(self) -> int:
        """Every token that went in or out."""
        return self.sent + self.output

    @property
    def sent(self) -> int:
        """Every token that went in, cached or not."""
        return self.input + self.cache_read + self.cache_write


@dataclass(frozen=True)
class Price:
    """Dollars per million tokens; the cache is written at 1.25 times the input price."""

    input: float
    output: float
    cache_read: float

    def of(self, usage: Usage) -> float:
        """What this usage costs."""
        sent = usage.input * self.input + usage.cache_write * self.input * 1.25 + usage.cache_read * self.cache_read
        return (sent + usage.output * self.output) / MILLION


# https://platform.claude.com/docs/en/about-claude/pricing, November 2026. Haiku 5.5 above 100,000 tokens of prompt
# costs five times its entry price: the higher one stands here, so that a budget is never exceeded.
PRICES = (
    ("claude-opus-5-5", Price(4.0, 20.0, 0.2)),
    ("claude-opus-4-1", Price(15.0, 75.0, 1.5)),
    ("claude-opus", Price(5.0, 25.0, 0.5)),
    ("claude-sonnet-5-5", Price(2.0, 10.0, 0.1)),
    ("claude-sonnet-5", Price(2.0, 10.0, 0.2)),
    ("claude-sonnet", Price(3.0, 15.0, 0.3)),
    ("claude-haiku-5-5", Price(0.5, 2.5, 0.05)),
    ("claude-haiku", Price(1.0, 5.0, 0.1)),
    ("claude-fable", Price(10.0, 50.0, 1.0)),
    ("claude-mythos", Price(10.0, 50.0, 1.0)),
)
FREE = Price(0.0, 0.0, 0.0)


def model_id(chosen: str | None, of_specialist: str) -> str:
    """The full id of the model that is asked: the user's choice, else the specialist's, else the default."""
    name = chosen or (of_specialist if of_specialist != "inherit" else DEFAULT)
    return ALIASES.get(name, name)


def price_of(model: str) -> Price | None:
    """The price, or `None` for a model that is none of Anthropic's: one's own server, where no bill comes."""
    bare = model.rsplit("/", 1)[-1].removeprefix("us.").removeprefix("eu.").removeprefix("anthropic.")
    return next((price for prefix, price in PRICES if bare.startswith(prefix)), None)
