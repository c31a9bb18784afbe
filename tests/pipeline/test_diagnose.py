"""One request from end to end, on the examples."""

import asyncio
import math
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from traindx import Diagnosis, TraindxError, adiagnose, diagnose
from traindx.contract import Event

pytestmark = pytest.mark.slow

MESSAGE = "loss went up after epoch 7"


@pytest.fixture(scope="module")
def diverged(broken_run: Path) -> Diagnosis:
    return diagnose(broken_run, MESSAGE)


def test_the_broken_run_is_diagnosed_with_verified_direct_evidence(diverged: Diagnosis) -> None:
    first = diverged.root_causes[0]
    assert diverged.status == "diagnosis_complete"
    assert first.id in {"learning-rate-too-high", "lr-schedule-spike"}
    assert first.confidence >= 0.9
    direct = [piece for piece in first.evidence if piece.kind == "direct" and piece.verified]
    assert any("epoch 7" in piece.locator for piece in direct)
    assert any(piece.source == "config.yaml" for piece in direct)


def test_every_quote_really_stands_where_it_is_cited(diverged: Diagnosis, broken_run: Path) -> None:
    pieces = [piece for cause in diverged.root_causes for piece in cause.evidence]
    assert pieces
    for piece in pieces:
        line = int(piece.locator.removeprefix("line ").split(",")[0])
        text = (broken_run / piece.source).read_text().splitlines()[line - 1]
        assert piece.quote in text


def test_the_fix_is_a_patch_that_applies_and_names_concrete_values(
    diverged: Diagnosis, broken_run: Path, tmp_path: Path
) -> None:
    fix = diverged.root_causes[0].fix
    assert fix.diff
    assert any(character.isdigit() for character in fix.summary)
    (tmp_path / "config.yaml").write_text((broken_run / "config.yaml").read_text())
    done = subprocess.run(
        ["git", "apply", "-"], input=fix.diff, text=True, cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "config.yaml").read_text() != (broken_run / "config.yaml").read_text()


def test_what_followed_is_not_a_second_cause(diverged: Diagnosis) -> None:
    named = {cause.id for cause in diverged.root_causes}
    assert not named & {"exploding-gradients", "overfitting", "undertrained"}


def test_the_answer_comes_under_the_specialists_own_headings(diverged: Diagnosis) -> None:
    assert list(diverged.sections) == [
        "Training Status Summary",
        "Key Findings",
        "Recommended Actions",
        "Expected Outcomes",
        "Monitoring Plan",
    ]
    assert all(text.strip() for text in diverged.sections.values())


def test_its_twin_is_healthy(healthy_run: Path) -> None:
    for message in ("", MESSAGE, "does the run look alright?"):
        diagnosis = diagnose(healthy_run, message)
        assert diagnosis.status == "healthy"
        assert diagnosis.root_causes == []


def test_the_poor_folder_asks_for_what_it_needs(poor_run: Path) -> None:
    diagnosis = diagnose(poor_run, "training failed, why?")
    assert diagnosis.status == "needs_more_data"
    assert len(diagnosis.questions) >= 2
    assert all(cause.confidence < 0.5 for cause in diagnosis.root_causes)


def test_the_same_folder_gives_the_same_answer(broken_run: Path, diverged: Diagnosis) -> None:
    again = diagnose(broken_run, MESSAGE)
    without_time = {"provenance": {"seconds": True, "tools": True}}
    assert again.model_dump(exclude=without_time) == diverged.model_dump(exclude=without_time)


def test_an_empty_message_is_decided_from_the_artifacts(broken_run: Path, diverged: Diagnosis) -> None:
    assert diagnose(broken_run).root_causes[0].id == diverged.root_causes[0].id


def test_a_misleading_message_does_not_mislead(broken_run: Path, diverged: Diagnosis) -> None:
    misled = diagnose(broken_run, "is the GPU broken? some random hardware error in epoch 7?")
    assert misled.root_causes[0].id == diverged.root_causes[0].id


def test_a_request_about_something_else_is_told_what_traindx_is_for(broken_run: Path) -> None:
    diagnosis = diagnose(broken_run, "please write me a poem about the sea")
    assert diagnosis.request.kind == "not-about-training"
    assert diagnosis.root_causes == []
    assert "traindx diagnose" in " ".join(diagnosis.questions)


def test_a_chosen_specialist_answers_in_its_own_headings(broken_run: Path) -> None:
    diagnosis = diagnose(broken_run, MESSAGE, specialist="ml-debugger")
    assert diagnosis.request.specialists == ["ml-debugger"]
    assert list(diagnosis.sections) == ["Error Summary", "Root Cause", "Evidence", "Fix", "Prevention"]


def test_an_unknown_specialist_is_refused_with_the_nearest_name(broken_run: Path) -> None:
    with pytest.raises(TraindxError, match="Did you mean `training-monitor`"):
        diagnose(broken_run, specialist="trainning-monitor")


def test_async_and_sync_agree_also_inside_a_running_loop(broken_run: Path, diverged: Diagnosis) -> None:
    async def both() -> tuple[Diagnosis, Diagnosis]:
        return await adiagnose(broken_run, MESSAGE), diagnose(broken_run, MESSAGE)

    for diagnosis in asyncio.run(both()):
        assert diagnosis.root_causes == diverged.root_causes


def test_several_diagnoses_at_once_do_not_disturb_each_other(broken_run: Path, healthy_run: Path) -> None:
    async def together() -> list[Diagnosis]:
        return list(await asyncio.gather(adiagnose(broken_run), adiagnose(healthy_run), adiagnose(broken_run)))

    assert [one.status for one in asyncio.run(together())] == ["diagnosis_complete", "healthy", "diagnosis_complete"]


def test_cancelling_ends_the_worker(broken_run: Path) -> None:
    async def cancelled() -> None:
        task = asyncio.create_task(adiagnose(broken_run))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    def working() -> int:
        """Threads but for the one that starts workers, which stays."""
        return sum("traindx-spawner" not in thread.name for thread in threading.enumerate())

    before = working()
    asyncio.run(cancelled())
    assert working() <= before


def test_the_listener_hears_stages_tools_and_findings(broken_run: Path) -> None:
    heard: list[Event] = []
    diagnose(broken_run, MESSAGE, listener=heard.append)
    assert {event.kind for event in heard} == {"stage", "tool_started", "tool_finished", "finding", "done"}


def test_nothing_in_the_run_folder_changes(broken_run: Path, hashes: Callable[[Path], dict[str, str]]) -> None:
    before = hashes(broken_run)
    diagnose(broken_run, MESSAGE)
    assert hashes(broken_run) == before


def test_confidence_is_a_number_between_zero_and_one(diverged: Diagnosis) -> None:
    assert all(math.isfinite(cause.confidence) and 0 <= cause.confidence <= 1 for cause in diverged.root_causes)
