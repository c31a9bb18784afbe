"""The same diagnosis for a terminal, as Markdown and as JSON."""

import re

import pytest

from traindx.contract import Diagnosis, Evidence, Fix, Provenance, RequestSummary, RootCause, ToolUse
from traindx.report import render
from traindx.report.render import Page

HOSTILE = "loss \x1b[31mred\x1b[0m `tick` <script>alert(1)</script> [link](http://x) \u202e | **bold**"


def diagnosis(quote: str = "7,0.6,1.9", **changes: object) -> Diagnosis:
    cause = RootCause(
        id="lr-schedule-spike",
        issue="The learning rate goes from 0.02 to 0.6 at epoch 7",
        severity="critical",
        confidence=0.96,
        evidence=[
            Evidence(
                claim="the rate is raised",
                kind="direct",
                source="metrics.csv",
                locator="line 8",
                quote=quote,
                verified=True,
            ),
            Evidence(claim="a guess", kind="circumstantial", source="train.log", locator="line 3", quote="x"),
        ],
        fix=Fix(
            summary="Set `lr` to 0.02",
            diff="--- a/c.yaml\n+++ b/c.yaml\n@@ -1 +1 @@\n-lr: 0.6\n+lr: 0.02\n",
            expected="The loss stays down",
            verify="Run to epoch 9",
            fallback="Halve it again",
        ),
        specialist="training-monitor",
    )
    whole = Diagnosis(
        status="diagnosis_complete",
        summary=cause.issue,
        request=RequestSummary(kind="divergence", specialists=["training-monitor"]),
        root_causes=[cause],
        excluded=["`exploding-gradients` follows from `lr-schedule-spike`"],
        sections={"Key Findings": "- the rate is raised\n- the loss has 12 points"},
        missing=["no checkpoint"],
        provenance=Provenance(tools=[ToolUse(tool="Read", status="ok")], sandbox="landlock", seconds=0.4),
    )
    return whole.model_copy(update=changes)


def test_json_is_the_contract_and_comes_back_equal() -> None:
    whole = diagnosis()
    assert Diagnosis.model_validate_json(render(whole, "json")) == whole


@pytest.mark.parametrize("width", [40, 80, 110])
def test_the_terminal_report_fits_its_columns_and_needs_no_colour(width: int) -> None:
    text = render(diagnosis(quote="x" * 500), "terminal", Page(width=width))
    assert max(len(line) for line in text.splitlines()) <= width
    assert "\x1b" not in text
    words = " ".join(text.split())
    for part in ("DIAGNOSIS", "lr-schedule-spike", "confidence 0.96", "NOT VERIFIED", "+lr: 0.02", "Verify"):
        assert part in words


def test_colour_only_adds_to_the_same_words() -> None:
    plain = render(diagnosis(), "terminal", Page(color=False))
    coloured = render(diagnosis(), "terminal", Page(color=True))
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured).split() == plain.split()


def test_details_are_kept_for_those_who_ask() -> None:
    assert "Key Findings" not in render(diagnosis(), "terminal", Page())
    assert "Key Findings" in render(diagnosis(), "terminal", Page(verbose=True))


@pytest.mark.parametrize("form", ["terminal", "markdown"])
def test_text_from_artifacts_cannot_drive_the_reader(form: str) -> None:
    text = render(diagnosis(quote=HOSTILE, summary=HOSTILE), form)
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("width", range(40, 121, 7))
def test_a_wrapped_line_keeps_its_indent_at_every_width(width: int) -> None:
    whole = diagnosis(quote="step 700 loss 27.69 lr 0.4 " * 9)
    claim = "the rate is raised far above what it was in every epoch before, and the loss follows it at once"
    cause = whole.root_causes[0]
    evidence = [cause.evidence[0].model_copy(update={"claim": claim})]
    whole = whole.model_copy(update={"root_causes": [cause.model_copy(update={"evidence": evidence})]})
    rows = render(whole, "terminal", Page(width=width)).splitlines()
    first = next(at for at, row in enumerate(rows) if row.startswith("       > step 700"))
    last = next(at for at, row in enumerate(rows) if row.strip() == "Fix")
    assert all(row.startswith(" " * 9) for row in rows[first + 1 : last])
    assert " ".join(" ".join(rows[first:last]).split()).count("step 700 loss 27.69") == 9
    said = next(at for at, row in enumerate(rows) if row.startswith("     - the rate"))
    assert all(row.startswith(" " * 7) for row in rows[said + 1 : first])


def test_a_quote_of_several_lines_is_marked_line_by_line() -> None:
    text = render(diagnosis(quote="Traceback:\n  File x.py"), "terminal")
    assert "       > Traceback:\n       >   File x.py\n" in text


def test_markdown_says_each_thing_once() -> None:
    whole = diagnosis()
    cause = whole.root_causes[0]
    fix = cause.fix
    sections = {
        "Training Status Summary": f"{cause.issue}\n- `loss`: 12 points",
        "Recommended Actions": f"1. {fix.summary}",
        "Expected Outcomes": f"- {fix.expected}",
        "Monitoring Plan": f"- {fix.verify} If it does not help: {fix.fallback}\n- Stop the run at NaN.",
        "Key Findings": f"- a finding\n\nConsidered and set aside:\n- {whole.excluded[0]}",
    }
    text = render(whole.model_copy(update={"sections": sections}), "markdown", title="runs/42")
    for part in (cause.issue, fix.summary, fix.expected, fix.verify, fix.fallback, *whole.excluded):
        assert text.count(part) == 1, part
    assert "### Recommended Actions" not in text
    assert "Considered and set aside:" not in text
    for part in ("`loss`: 12 points", "- a finding", "- Stop the run at NaN.", "### Monitoring Plan"):
        assert part in text


def test_what_every_reader_must_know_needs_no_v() -> None:
    warning = "`model.pt`: loading it would run `os.system`: do not unpickle it"
    whole = diagnosis(missing=["no checkpoint", warning], notable=[warning])
    text = " ".join(render(whole, "terminal", Page()).split())
    assert warning in text
    assert "1 remark; -v lists them" in text
    assert "no checkpoint" not in text
    detailed = " ".join(render(whole, "terminal", Page(verbose=True)).split())
    assert detailed.count(warning) == 1
    assert render(whole, "markdown").count("do not unpickle it") == 1


def test_what_could_not_be_written_is_said() -> None:
    whole = diagnosis()
    made = whole.provenance.model_copy(update={"unwritten": ["cannot write `loss.png`: no space left on device"]})
    whole = whole.model_copy(update={"provenance": made})
    for form in ("terminal", "markdown"):
        assert "no space left on device" in render(whole, form)


def test_markdown_from_artifacts_stays_text() -> None:
    text = render(diagnosis(quote=HOSTILE, summary=HOSTILE), "markdown")
    outside = re.sub(r"(`+).+?\1", "", text)
    assert not re.search(r"(?<!\\)<script", outside)
    assert "[link]" not in outside


def test_markdown_carries_every_part() -> None:
    text = render(diagnosis(), "markdown", title="runs/42")
    for part in ("# runs/42", "`lr-schedule-spike`", "```diff", "Key Findings", "Considered and set aside", "landlock"):
        assert part in text


@pytest.mark.parametrize(
    ("status", "headline"), [("healthy", "HEALTHY"), ("needs_more_data", "NEEDS MORE DATA"), ("partial", "PARTIAL")]
)
def test_every_status_has_its_headline(status: str, headline: str) -> None:
    text = render(diagnosis(status=status, root_causes=[], questions=["Which log?"]), "terminal")
    assert headline in text
    assert "Which log?" in text


def test_a_diff_is_never_wrapped() -> None:
    line = "+" + "x" * 150 + "\tend"
    whole = diagnosis()
    cause = whole.root_causes[0]
    fix = cause.fix.model_copy(update={"diff": f"--- a/c\n+++ b/c\n@@ -1 +1 @@\n-y\n{line}"})
    said = render(whole.model_copy(update={"root_causes": [cause.model_copy(update={"fix": fix})]}))
    assert line in said
