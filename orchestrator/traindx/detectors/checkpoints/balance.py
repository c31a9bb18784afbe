"""Where the parameters of a model are: by kind and by module, what is tied, and whether one part starves the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from traindx.contract import Citation, Fact, Signal

SIGNALS = {
    "embedding-dominates": "the token embedding holds most parameters of a sequence model; little is left for layers",
    "parameters-balanced": "the layers that do the work hold at least a third of the parameters",
}
DOMINATES = 0.65
"""GPT-2 small keeps 31 % in its embeddings, BERT-base 22 %; small models with a large vocabulary far more"""
BALANCED = 1 / 3
FEWEST = 10_000
MOST = 500_000_000
KINDS = (
    ("embedding", re.compile(r"embed|(?:^|\.)(?:wte|wpe|tok|emb|shared)(?:\.|_|$)", re.IGNORECASE)),
    ("norm", re.compile(r"norm|(?:^|[._])(?:ln|bn|gn)(?:[._\d]|$)|layer_?norm", re.IGNORECASE)),
    ("recurrent", re.compile(r"weight_[ih]h|bias_[ih]h|lstm|gru(?:\.|$)|(?:^|\.)rnn")),
    ("attention", re.compile(r"attn|attention|[._](?:q|k|v|o|qkv|out|in)_?proj|query|\.(?:key|value)\.", re.I)),
    ("output", re.compile(r"(?:^|\.)(?:lm_head|head|classifier|fc_out|decoder|output|out|score|logits|cls)\.", re.I)),
    ("convolution", re.compile(r"conv", re.IGNORECASE)),
)  # fmt: skip
_SEQUENCE = frozenset({"attention", "recurrent"})


@dataclass(frozen=True)
class Parameter:
    """One parameter of a model: its name, its shape, and where that can be seen."""

    name: str
    shape: tuple[int, ...]
    place: Citation | None = None
    shared_with: str = ""
    """the parameter whose memory it is"""

    @property
    def elements(self) -> int:
        """Number of values; a shared parameter has none of its own."""
        count = 0 if self.shared_with else 1
        for size in self.shape:
            count *= size
        return count

    @property
    def kind(self) -> str:
        """What it is for, as far as its name and shape tell."""
        for kind, pattern in KINDS:
            if pattern.search(self.name):
                return kind
        return "convolution" if len(self.shape) > 2 else "linear" if len(self.shape) == 2 else "other"


@dataclass(frozen=True)
class Balance:
    """The parameters of a model, added up."""

    total: int
    kinds: dict[str, int]
    modules: dict[str, int]
    tied: dict[str, str] = field(default_factory=dict)
    largest: Parameter | None = None

    def share(self, kind: str) -> float:
        """The share of one kind in all parameters."""
        return self.kinds.get(kind, 0) / self.total if self.total else 0.0


def measure(parameters: Sequence[Parameter], depth: int = 1) -> Balance:
    """Add the parameters up by kind, and by the first parts of their names."""
    kinds: dict[str, int] = {}
    modules: dict[str, int] = {}
    for one in parameters:
        module = ".".join(one.name.split(".")[:-1][:depth]) or one.name
        kinds[one.kind] = kinds.get(one.kind, 0) + one.elements
        modules[module] = modules.get(module, 0) + one.elements
    tied = {one.name: one.shared_with for one in parameters if one.shared_with}
    tables = [one for one in parameters if one.kind == "embedding" and len(one.shape) == 2]
    largest = max(tables, key=lambda one: one.elements, default=None)
    return Balance(sum(kinds.values()), _sorted(kinds), _sorted(modules), tied, largest)


def detect(balance: Balance) -> list[Signal]:
    """A sequence model whose embedding leaves little for its layers; or layers with their due share."""
    working = sum(balance.share(kind) for kind in ("attention", "recurrent", "linear", "convolution"))
    table = balance.largest
    if not FEWEST <= balance.total <= MOST or not _SEQUENCE & balance.kinds.keys() or table is None:
        return []
    share = table.elements / balance.total
    facts: dict[str, Fact] = {
        "embedding": table.name,
        "embedding_share": f"{share:.0%}",
        "embedding_rows": table.shape[0],
        "embedding_width": table.shape[1],
        "working_share": f"{working:.0%}",
        "parameters": balance.total,
    }
    if share >= DOMINATES:
        claim = (
            f"`{table.name}` ({table.shape[0]:,} x {table.shape[1]:,}) holds {share:.0%} of {balance.total:,}"
            f" parameters, the layers {working:.0%}"
        )
        places = [table.place.model_copy(update={"claim": claim})] if table.place is not None else []
        return [Signal(id="embedding-dominates", claim=claim, citations=places, facts=facts)]
    if working >= BALANCED:
        claim = f"the layers hold {working:.0%} of {balance.total:,} parameters"
        places = [table.place.model_copy(update={"claim": claim})] if table.place is not None else []
        return [Signal(id="parameters-balanced", claim=claim, citations=places)]
    return []


def chart(counts: dict[str, int], width: int = 40, most: int = 20) -> str:
    """Bars of text, the largest first."""
    total = sum(counts.values())
    if not total:
        return ""
    rows = list(counts.items())[:most]
    longest = max(len(name) for name, _ in rows)
    bars = ["#" * max(1, round(width * count / total)) if count else "" for _, count in rows]
    drawn = [
        f"{name:<{longest}}  {bar:<{width}} {count / total:6.1%}  {count:,}"
        for bar, (name, count) in zip(bars, rows, strict=True)
    ]
    left = sum(count for _, count in list(counts.items())[most:])
    return "\n".join([*drawn, *([f"{'(others)':<{longest}}  {left:,}"] if left else [])])


def _sorted(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
