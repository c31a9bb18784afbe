"""Without a model: free text is understood, and every number comes from the diagnosis or a tool."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.chat.phrasings import PHRASINGS
from traindx.chat.answers.small_talk import UNCLEAR
from traindx.chat.commands import carry_out
from traindx.chat.session import ChatSession, Leave
from traindx.chat.turns import Turns
from traindx.definitions.content import EXAMPLES
from traindx.report.render import Page

Ask = Callable[..., str]


@pytest.mark.parametrize(("run", "question", "words"), PHRASINGS, ids=[f"{row[0]}-{row[1]}" for row in PHRASINGS])
def test_a_question_gets_its_answer(ask: Ask, run: str, question: str, words: tuple[str, ...]) -> None:
    said = ask(question, of=run)
    for wanted in words:
        assert wanted in said


def test_case_punctuation_and_typographic_quotes_do_not_matter(ask: Ask) -> None:
    assert ask("WHAT\u2019S   the Problem ???") == ask("whats the problem")


def test_what_is_not_understood_is_told_in_two_lines() -> None:
    assert len(UNCLEAR.split("\n")) == 2


@pytest.mark.parametrize("question", ["why?", "how do I fix it?", "when did it start?", "best val loss", "which lr?"])
def test_every_number_stands_in_the_run_or_in_the_diagnosis(
    ask: Ask, talks: Callable[[str], ChatSession], question: str
) -> None:
    said = ask(question)
    known = talks("schedule-change").diagnosis.model_dump_json()
    known += "".join(path.read_text() for path in (EXAMPLES / "schedule-change").glob("*.[cylt]*"))
    figures = {float(number) for number in re.findall(r"\d+\.\d+", said)}
    stand = [float(number) for number in re.findall(r"\d+\.\d+", known)]
    assert all(any(abs(figure - one) <= 0.005 * abs(one) for one in stand) for figure in figures)


def test_a_goodbye_ends_it(ask: Ask) -> None:
    for word in ("bye", "quit", "that's all"):
        with pytest.raises(Leave):
            ask(word)


def test_a_new_description_is_a_reason_to_look_again(ask: Ask, talks: Callable[[str], ChatSession]) -> None:
    said = ask("actually the loss goes up after epoch 3", of="schedule-change-healthy")
    assert "looked again" in said
    session = talks("schedule-change-healthy")
    assert session.message == "actually the loss goes up after epoch 3"
    ask("and the accuracy is stuck at 10 %", of="schedule-change-healthy")
    assert session.message == "actually the loss goes up after epoch 3. and the accuracy is stuck at 10 %"


def test_an_answer_to_our_questions_is_a_description_too(ask: Ask, talks: Callable[[str], ChatSession]) -> None:
    ask("the node was taken away by the cluster", of="poor-folder")
    assert "taken away" in talks("poor-folder").message


def test_a_cause_that_is_not_there_is_said_so(ask: Ask) -> None:
    assert "There is no cause 3" in ask("why cause 3?")
    assert "There is no cause 3" in ask("/evidence 3")


def test_a_file_that_is_gone_is_said_so(turns: Turns, copied_run: Path) -> None:
    session = ChatSession([str(copied_run)], {"brain": "local"}, Page(), turns.stop)
    turns.take(session.open())
    turns.take(session.diagnose(""))
    (copied_run / "config.yaml").unlink()
    said = turns.take(carry_out(session, "/evidence"))
    turns.take(session.close())
    assert "cannot be opened now" in said
