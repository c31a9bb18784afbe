"""One request after another about a run that stays open: gather, understand, investigate, verify, conclude."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from traindx.brains import Brain, Case, LocalInvestigator, NullTranscript, Transcript
from traindx.brains.local.sections import compile_sections
from traindx.contract import ContextPackage, Diagnosis, Event, Provenance, RunSummary, Signal, null_listener
from traindx.definitions.project import Project
from traindx.definitions.version import __version__
from traindx.diagnosis.evidence import verify
from traindx.diagnosis.findings import Findings
from traindx.diagnosis.merge import among_several, conclude, out_of_field, several_runs
from traindx.diagnosis.wording import compile_wording
from traindx.errors import TraindxError, UsageError
from traindx.pipeline.brain_choice import claude, wants_claude
from traindx.pipeline.context import gather
from traindx.pipeline.guess import answered
from traindx.pipeline.health import with_reasons
from traindx.pipeline.inputs import OpenRun, open_part
from traindx.pipeline.options import Choices
from traindx.pipeline.probes import with_probes
from traindx.pipeline.registry import Registry
from traindx.pipeline.request import compile_phrases
from traindx.pipeline.request.attempts import attempt_named, speaks_of_an_attempt
from traindx.pipeline.several import MOST_EXAMINED, examined, picked, scope_of, to_examine, worst
from traindx.pipeline.transcript import TranscriptFile, default_place, read_transcript

if TYPE_CHECKING:
    from traindx.brains.llm import ClaudeBrain

MOST_SPECIALISTS = 3


class Session:
    """An open run with its tools and its brain: `await session.diagnose(…)`, then `await session.ask(…)`.

    `diagnosis` is the latest one, `signals` what the tools found for it, `case_file` the transcript it is written to,
    `claude` the brain where it is one with a model. Setting `stop` ends a model's work.
    """

    def __init__(self, run: OpenRun, choices: Choices, stop: asyncio.Event | None = None) -> None:
        self.run = run
        self.choices = choices
        self.listener = choices.get("listener", null_listener)
        self.claude: ClaudeBrain | None = claude(choices, stop) if wants_claude(choices) else None
        self.brain: Brain = self.claude or LocalInvestigator()
        self.transcript: Transcript = NullTranscript()
        self.case_file: Path | None = None
        self.diagnosis: Diagnosis | None = None
        self.signals: list[Signal] = []
        self._notes: list[str] = []
        self._registry: Registry | None = None
        self._held = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Session:
        async with contextlib.AsyncExitStack() as held:
            if self.claude is not None:
                await held.enter_async_context(self.claude)
            kept = self._transcript_file()
            if kept is not None:
                held.callback(kept.close)
                self.transcript, self.case_file = kept, kept.path
            # The worker is still waking up: what else is needed is read meanwhile.
            _, registry = await asyncio.gather(self.context(), asyncio.to_thread(_prepared, self.run.project))
            self._registry = registry
            self._held = held.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._held.__aexit__(kind, error, trace)

    async def context(self) -> ContextPackage:
        """What the run left behind."""
        run = self.run
        self._tell(f"reading {run.scope.name}")
        return await asyncio.to_thread(gather, run.toolbelt, run.scope, run.project.profile(), run.remarks)

    async def cases(self, message: str = "", specialist: str | None = None) -> list[Case] | Diagnosis:
        """What the specialists are given, or the answer that needs none of them."""
        registry = self._registry or Registry.load(self.run.project)
        context = await self.context()
        if len(context.runs) > 1 and (one := picked(context.runs, message)) is not None:
            self._notes.append(f"of {len(context.runs)} runs, `{one.path}` was examined: the message names it")
            context = await self._narrowed(context.runs, one)
        if len(context.runs) > 1:
            return several_runs(context, self.run.scope.root, self._provenance("none"))
        context = await self._of_the_attempt(message, context)
        request = registry.understand(message, context, specialist or self.choices.get("specialist"))
        if not request.about_training:
            return out_of_field(request, self._provenance("none"))
        registry.check_signals(self.run.toolbelt.specs(schemas=False), self.run.project)
        context = context.model_copy(update={"symptoms": list(request.symptoms)})
        sent = [registry.specialists[row.specialist] for row in request.ranking[:MOST_SPECIALISTS]]
        self.transcript.write("context", {"context": context.model_dump(mode="json")})
        return [
            Case(request, context, one, self.run.toolbelt, registry.catalog, self.listener, self.transcript, len(sent))
            for one in sent
        ]

    async def diagnose(self, message: str = "", specialist: str | None = None) -> Diagnosis:
        """The diagnosis for this message, by the specialists it asks for or by the one named here."""
        asked = {"message": message, "paths": list(self.run.paths), "brain": self.brain.name}
        self.transcript.write("request", asked)
        context = await self.context()
        if len(context.runs) > 1 and picked(context.runs, message) is None:
            return self._done(await self._diagnose_several(message, specialist, context))
        if context.repeats and self.run.scope.attempt is None and not speaks_of_an_attempt(message):
            return self._done(await self._diagnose_repeats(message, specialist, context.attempts))
        return self._done(await self._diagnose_one(message, specialist))

    async def _diagnose_one(self, message: str, specialist: str | None) -> Diagnosis:
        cases = await self.cases(message, specialist)
        if isinstance(cases, Diagnosis):
            return cases
        findings = await self.brain.investigate(cases)
        return await self._concluded(cases[0], findings)

    async def _diagnose_several(self, message: str, specialist: str | None, context: ContextPackage) -> Diagnosis:
        """Each run is looked into for itself, without a model; the one that is worst is the answer."""
        rows = list(context.runs)
        chosen = to_examine(rows)
        answers: list[Diagnosis] = []
        for row in chosen:
            self._tell(f"examining {row.path}")
            with self._part(rows, row) as part:
                async with Session(part, {"brain": "local", "listener": self.listener}) as one:
                    answers.append(await one._diagnose_one(message, specialist))
        place = worst(answers)
        seen = {row.path: examined(row, answer) for row, answer in zip(chosen, answers, strict=True)}
        runs = [seen.get(row.path, row) for row in rows]
        if answers[place].status == "healthy" or not answers[place].named:
            tools = [use for answer in answers for use in answer.provenance.tools]
            made = self._provenance("local").model_copy(update={"tools": tools})
            sent = answers[place].request
            return several_runs(context, self.run.scope.root, made, runs, sent)
        await self._narrowed(rows, chosen[place])
        answer = answers[place] if self.claude is None else await self._diagnose_one(message, specialist)
        return among_several(answer, runs, chosen[place].path)

    async def _diagnose_repeats(self, message: str, specialist: str | None, count: int) -> Diagnosis:
        """Each fold or seed of one log is looked into for itself, the last ones first; the worst is the answer."""
        numbers = list(range(count, 0, -1))[:MOST_EXAMINED]
        whole, answers = self.run, []
        for number in numbers:
            self._tell(f"examining run {number} of {count} in one log")
            with open_part(whole, replace(whole.scope, attempt=number), self.listener) as part:
                async with Session(part, {"brain": "local", "listener": self.listener}) as one:
                    answers.append(await one._diagnose_one(message, specialist))
        number = numbers[worst(answers)]
        failed = sum(bool(answer.named) and answer.status != "healthy" for answer in answers)
        self._notes.append(
            f"{count} runs stand one after another in the same log; {len(numbers)} were examined, {failed} of them show"
            f" a fault; this is number {number}"
        )
        self.run = self._held.enter_context(open_part(whole, replace(whole.scope, attempt=number), self.listener))
        return await self._diagnose_one(message, specialist)

    async def ask(self, question: str, specialist: str | None = None) -> str:
        """A follow-up question to a specialist of the latest diagnosis; raises `TraindxError` where nobody answers."""
        from traindx.brains.llm.reply import ModelFault

        asked = self.claude.investigations if self.claude is not None else {}
        name = specialist or next(iter(asked), "")
        if name not in asked:
            raise UsageError("there is no investigation to ask about: diagnose with a model first")
        try:
            return await asked[name].ask(question)
        except ModelFault as fault:
            raise TraindxError(fault.reason) from None

    async def rejoin(self, message: str, diagnosis: Diagnosis, said: str) -> None:
        """Take up an earlier conversation about this run, so that its lead specialist can be asked; nothing is sent."""
        self.diagnosis = diagnosis
        cases = await self.cases(message, next(iter(diagnosis.request.specialists), None))
        if self.claude is not None and not isinstance(cases, Diagnosis):
            summary = diagnosis.model_dump_json(include={"status", "summary", "root_causes", "excluded", "questions"})
            await self.claude.rejoined(cases[0], f"{summary}\n\n{said}")

    def _part(self, rows: Sequence[RunSummary], row: RunSummary) -> contextlib.AbstractContextManager[OpenRun]:
        """One of the runs of the folder, opened by itself."""
        return open_part(self.run, scope_of(row, rows, self.run.scope), self.listener)

    async def _narrowed(self, rows: Sequence[RunSummary], row: RunSummary) -> ContextPackage:
        """Go on with one run of several."""
        self.run = self._held.enter_context(self._part(rows, row))
        self._registry = await asyncio.to_thread(Registry.load, self.run.project)
        return await self.context()

    async def _of_the_attempt(self, message: str, context: ContextPackage) -> ContextPackage:
        """Go on with an earlier attempt where several wrote one log and the message speaks of it."""
        scope = self.run.scope
        if context.attempts < 2 or scope.attempt is not None:
            return context
        wanted = attempt_named(message, context.attempts)
        which = "the last" if wanted is None else f"number {wanted}, which the message names,"
        self._notes.append(f"{context.attempts} attempts wrote to the same log: {which} was examined")
        if wanted is None:
            return context
        self.run = self._held.enter_context(open_part(self.run, replace(scope, attempt=wanted), self.listener))
        return await self.context()

    async def _concluded(self, case: Case, findings: Sequence[Findings]) -> Diagnosis:
        self._tell("checking every citation")
        signals = [signal for one in findings for signal in one.signals]
        self.signals = signals
        unchecked = [cause for one in findings if not one.checked for cause in one.causes]
        causes = [cause for one in findings if one.checked for cause in one.causes]
        causes += await asyncio.to_thread(verify, unchecked, self.run.toolbelt, signals)
        name = self.brain.name if any(one.brain != "local" for one in findings) else "local"
        diagnosis = conclude(case.request, case.context, findings, causes, self._provenance(name))
        diagnosis = with_probes(diagnosis, case.context, signals, self.run.scope.root)
        return answered(with_reasons(diagnosis, case.request, case.context, signals), case.request, case.context)

    def _done(self, diagnosis: Diagnosis) -> Diagnosis:
        self.diagnosis = diagnosis
        self.transcript.write("diagnosis", {"diagnosis": diagnosis.model_dump(mode="json")})
        self.listener(Event(kind="done", text=diagnosis.summary, diagnosis=diagnosis))
        return diagnosis

    def _provenance(self, brain: str) -> Provenance:
        masked = self.claude.redactor.said() if self.claude is not None else ""
        return Provenance(
            brain=brain,
            # Specialists work at once: in the order of their names the list is the same every time.
            tools=sorted(self.run.toolbelt.uses, key=lambda use: use.tool),
            sandbox=self.run.toolbelt.sandbox,
            seconds=round(time.perf_counter() - self.run.began, 3),
            version=__version__,
            notes=[*([masked] if masked else []), *self._notes],
        )

    def _tell(self, stage: str) -> None:
        self.listener(Event(kind="stage", text=stage))

    def _transcript_file(self) -> TranscriptFile | None:
        wanted, resumed = self.choices.get("save_case"), self.choices.get("resume_case")
        earlier = read_transcript(Path(resumed)) if resumed else None
        if wanted or earlier is not None:
            return TranscriptFile(Path(wanted) if wanted else earlier.path if earlier else Path(), earlier)
        if self.claude is None:
            return None
        try:
            return TranscriptFile(default_place(self.run.scope.name))
        except UsageError as error:
            self._notes.append(f"no transcript was kept: {error}")
            return None


def _prepared(project: Project) -> Registry:
    """What an answer needs whatever the run holds, made ready while the worker wakes up."""
    registry = Registry.load(project)
    compile_phrases()
    compile_wording()
    compile_sections(registry.specialists.values())
    return registry
