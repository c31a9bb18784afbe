"""Statements that should not be there, by rules that are one file each."""

from traindx.definitions.rules import CodeRule, load_rules
from traindx.detectors.program import code_rules
from traindx.detectors.settings import bool_options
from traindx.readers import Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """Nothing to choose: every rule is applied to every file."""


class RuleReport(ToolOutput):
    """The rules that were applied."""

    rules: list[str]


@tool(needs=["code"], emits={**code_rules.SIGNALS, **bool_options.SIGNALS})
def check_code_rules(given: Input, run: Run) -> RuleReport:  # noqa: ARG001 - every tool takes its input
    """Apply the code rules, ours and the project's own (`.traindx/code_rules/`), to the run's program, and compare its
    options with the commands that start it.
    """
    if not run.program:
        raise NoData("no Python file or notebook in this run")
    rules = load_rules(CodeRule, run.project)
    signals = [*code_rules.detect(run.program, rules), *bool_options.detect(run.settings, run.program)]
    return RuleReport(rules=[rule.name for rule in rules], signals=signals)
