"""The registry of signals: what each of them means, which fact it is a reading of, and who finds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from traindx.contract import SignalKind
from traindx.definitions import frontmatter
from traindx.diagnosis.catalog import FailureMode, Hypothesis
from traindx.errors import DefinitionError, did_you_mean
from traindx.runtime import ToolSpec


@dataclass(frozen=True)
class SignalRegistry:
    """Every signal by id, with the tools that may find it."""

    kinds: Mapping[str, SignalKind] = field(default_factory=dict)
    tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, specs: Mapping[str, ToolSpec], more: Mapping[str, str] | None = None) -> SignalRegistry:
        """What the tools declare, and `more` that no tool finds: what a user says."""
        kinds = {name: SignalKind(meaning) for name, meaning in (more or {}).items()}
        tools: dict[str, tuple[str, ...]] = {}
        for tool, spec in specs.items():
            for name, meaning in spec.emits.items():
                kinds[name] = SignalKind(meaning, spec.groups.get(name, ""), name in spec.proofs)
                tools[name] = (*tools.get(name, ()), tool)
        return cls(kinds, tools)

    def group(self, signal: str) -> str:
        """The fact that the signal is a reading of; its own name where it stands alone."""
        kind = self.kinds.get(signal)
        return kind.group or signal if kind is not None else signal

    def is_proof(self, signal: str) -> bool:
        """Whether the signal proves a fault of the program itself."""
        kind = self.kinds.get(signal)
        return kind is not None and kind.proof

    def check(self, hypotheses: Iterable[Hypothesis]) -> None:
        """Raise `DefinitionError` for a signal that nothing finds."""
        for mode in hypotheses:
            if not isinstance(mode, FailureMode):
                continue
            weighed = [(signal, ("for" if sign > 0 else "against", signal)) for signal, _, sign in mode.weighed()]
            for signal, key in [*weighed, *((signal, ("shows_as",)) for signal in mode.shows_as)]:
                if signal not in self.kinds:
                    line = frontmatter.parse(mode.source).line(key)
                    hint = did_you_mean(signal, self.kinds)
                    raise DefinitionError(mode.source, line, f"no tool emits the signal `{signal}`.{hint}")
