"""Fixes as code to paste: one file each in `prompts/fix_templates/`, filled in with the run's own names and values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from traindx.contract import ConfigValue, Fact
from traindx.definitions import frontmatter
from traindx.definitions.content import PROMPTS
from traindx.diagnosis.wording import sentences
from traindx.vocabulary.settings import GROUPS, rank_in

FOLDER = PROMPTS / "fix_templates"
NAMES = {
    "model": "model",
    "optimizer": "optimizer",
    "loss": "loss",
    "loader": "loader",
    "scheduler": "scheduler",
    "scaler": "scaler",
}
"""what the parts of a training are called where the program does not tell"""


class FixTemplate(BaseModel):
    """A change in code, and the failure modes that it mends."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    name: str
    title: str
    mends: tuple[str, ...] = Field(alias="for", description="failure modes")
    defaults: dict[str, Fact] = Field(default_factory=dict, description="values where the run sets none, by setting")
    body: str = Field(default="", exclude=True)

    def filled(self, names: Mapping[str, str], settings: Iterable[ConfigValue] = ()) -> str:
        """The page with these names, and with the values that the run sets."""
        values = {**self.defaults, **_values(self.defaults, list(settings))}
        return sentences().from_string(self.body).render({**NAMES, **values, **names}).strip() + "\n"

    def example(self, names: Mapping[str, str], settings: Iterable[ConfigValue] = ()) -> str:
        """The code alone."""
        _, _, rest = self.filled(names, settings).partition("```python\n")
        return rest.partition("```")[0].rstrip()


@cache
def load_templates(folder: Path = FOLDER) -> dict[str, FixTemplate]:
    """Every template by its name; raises `DefinitionError` at the first wrong file."""
    found: dict[str, FixTemplate] = {}
    for path in sorted(folder.glob("*.md")):
        parsed = frontmatter.parse(path)
        template = parsed.into(FixTemplate)
        if template.name != path.stem:
            raise parsed.error("name", f"`name: {template.name}` and the file name `{path.name}` differ")
        found[path.stem] = template.model_copy(update={"body": parsed.body})
    return found


def template_for(cause: str) -> FixTemplate | None:
    """The template that mends a failure mode."""
    return next((one for one in load_templates().values() if cause in one.mends), None)


def _values(wanted: Mapping[str, Fact], settings: Sequence[ConfigValue]) -> dict[str, Fact]:
    """What the run sets of these, whatever it calls them; configured before coded."""
    found: dict[str, Fact] = {}
    for group in wanted:
        if group not in GROUPS:
            continue
        rows = [(rank, row) for row in settings if (rank := rank_in(row.key, group)) is not None]
        numbers = [(rank, row) for rank, row in rows if isinstance(row.value, int | float)]
        if numbers:
            found[group] = min(numbers, key=lambda pair: (pair[1].source.endswith(".py"), pair[0]))[1].value
    return found
