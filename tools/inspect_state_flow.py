"""Every recurrent state of the program: where it is made, handed on, detached and reset."""

from pydantic import Field

from traindx.contract import Value
from traindx.detectors.program import review
from traindx.program.facts import state_story
from traindx.program.followed import program_of
from traindx.program.state_picture import pictures
from traindx.readers import Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

MOST_PICTURES = 8


class Input(ToolInput):
    """Nothing to choose: every recurrent call of the program is looked at."""


class StateCall(Value):
    """A recurrent call, and the states that it takes in the order in which it takes them."""

    place: str
    code: str
    takes: list[str]


class StateFlow(ToolOutput):
    """The calls, a picture of each loop, and the checklist of recurrent state answered item by item."""

    calls: list[StateCall]
    loops: str = Field(description="the loops around each call, and what happens to its state in one turn of them")
    checklist: dict[str, str] = Field(description="question -> yes, no or unknown, with the line where there is one")


_DETACHED = ("state-not-detached", "cell-state-not-detached", "detach-result-discarded")
QUESTIONS = {
    "the whole state is detached between backward and the next forward": _DETACHED,
    "no graph is retained to silence an autograd error": ("retain-graph-workaround",),
    "gradients flow through the whole window": ("state-detached-too-early",),
    "the state flows on from step to step": ("state-reset-every-step",),
    "the state is reset where the data starts again": ("state-never-reset",),
    "the batches come in an order that the state can follow": ("state-with-shuffled-batches",),
    "gradients of earlier samples are cleared": ("missing-zero-grad",),
    "nothing else keeps graphs alive": ("graph-retained-leak",),
}


@tool(needs=["code"], timeout=120.0)
def inspect_state_flow(given: Input, run: Run) -> StateFlow:  # noqa: ARG001 - every tool takes its input
    """Follow every recurrent state through the loops: which call takes it, whether it is new, handed on or cut from its
    graph; and answer the checklist of recurrent training, sequence length 1 included, item by item.
    """
    analyses = program_of(run)
    calls: dict[str, StateCall] = {}
    for analysis in analyses:
        for fact in state_story(analysis):
            held = calls.setdefault(fact.place, StateCall(place=fact.place, code="", takes=[]))
            if fact.topic == "call":
                calls[fact.place] = held.model_copy(update={"code": fact.what})
            elif fact.what not in held.takes:
                calls[fact.place] = held.model_copy(update={"takes": [*held.takes, fact.what]})
    if not calls:
        raise NoData("no recurrent layer is called in the code of this run")
    found, _ = review.detect(analyses)
    whole = all(analysis.whole for analysis in analyses)
    checklist = {}
    for question, rules in QUESTIONS.items():
        against = next((one for one in found if one.rule in rules and one.proven), None)
        checklist[question] = f"no: {against.place.text}" if against is not None else "yes" if whole else "unknown"
    drawn = [picture for analysis in analyses for picture in pictures(analysis)]
    return StateFlow(calls=list(calls.values()), loops="\n\n".join(drawn[:MOST_PICTURES]), checklist=checklist)
