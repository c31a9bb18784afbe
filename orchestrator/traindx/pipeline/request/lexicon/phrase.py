"""A phrase of the lexicon: a pattern, and what it speaks for.

A pattern is a regular expression over plain clauses (lower case, single blanks) with shorthands: `~` is a short gap
within a clause, `~~` a longer one within a sentence, and `<loss>`, `<metric>`, `<val>` and `<not>` stand for the words
below. Weights: 4-5 unmistakable, 3 a plain report, 2 likely, 1 a hint. Gaps are bounded and no quantifier is nested in
another without a fixed separator, so a search takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from traindx.vocabulary.shorthand import expanded


@dataclass(frozen=True)
class Phrase:
    """A way of saying something: what kind of trouble it speaks for, and to which specialist it leans.

    `cause` marks a theory, which nobody observes; `asks` a wish or a topic, which counts in a question as well;
    `says` is the symptom in words, where the kind's own sentence would be too general.
    """

    source: str
    kinds: Mapping[str, float]
    leans: Mapping[str, float]
    cause: bool = False
    asks: bool = False
    says: str = ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled on first use: a hundred patterns cost a tenth of a second that `--help` need not pay."""
        return re.compile(self.source)


def phrase(
    pattern: str,
    leans: Mapping[str, float] | None = None,
    *,
    cause: bool = False,
    asks: bool = False,
    says: str = "",
    **kinds: float,
) -> Phrase:
    """A row of the lexicon; `not_learning=3` gives three points to the kind `not-learning`."""
    weights = {name.replace("_", "-"): weight for name, weight in kinds.items()}
    return Phrase(expanded(pattern), weights, leans or {}, cause, asks, says)
