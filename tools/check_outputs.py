"""Whether the outputs vary: measures of diversity that were logged, and files of samples."""

import re
from collections import Counter
from itertools import pairwise

import numpy as np

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.chance import is_accuracy
from traindx.detectors.curves.objective import words_of
from traindx.readers import Run, Series
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

_DIVERSITY = {"distinct", "unique", "diversity", "variety", "modes", "coverage", "pairwise", "uniq"}
_SPREADS = {"embedding", "embeddings", "emb", "sample", "samples", "output", "outputs", "pred", "preds", "fake", "gen"}
# What is left of the early variety when the outputs have become one.
COLLAPSED = 0.1
FEWEST = 5
FEWEST_LINES = 8
LARGEST = 200_000
_OUTPUTS = {"pred", "preds", "prediction", "predictions", "yhat", "output", "outputs"}
_TEXTS = (".txt", ".log", ".md", ".jsonl")
_PER_CLASS = {"iou", "dice", "recall", "precision", "f1", "sensitivity", "tpr", "fscore", "mcc"}
_PHASES = {"train", "val", "valid", "test", "eval", "dev"}
_WORD = re.compile(r"\S+")
_ROWS = re.compile(r"\[([\d,\s]{3,400})\]")
_COUNT = re.compile(r"(?<![\w.])\d{1,9}(?![\w.])")
MOST_CLASSES = 30
ONE_CLASS = 0.98
LOOPING = 0.25
"""share of different pairs of words below which a text goes round in circles"""
TAIL = 400
"""lines before the end in which a matrix is looked for"""


class Input(ToolInput):
    """Nothing to choose: every measure of variety and every file of samples is looked at."""


class OutputReport(ToolOutput):
    """The measures and the files."""

    series: list[str]
    files: list[str]


@tool(
    needs=["series", "files"],
    emits={
        "outputs-collapsed": "the outputs have become one, or nearly so",
        "one-class-predicted": "recall or precision is exactly zero, or accuracy never moves, while the loss does",
        "outputs-constant": "a statistic of the predictions is the same number at every evaluation",
        "accuracy-frozen": "accuracy is the same to the last digit at every evaluation",
        "outputs-varied": "the outputs are as varied at the end as before",
    },
)
def check_outputs(given: Input, run: Run) -> OutputReport:  # noqa: ARG001 - every tool takes its input
    """Look whether samples or predictions repeat: logged counts of distinct outputs, pairwise distances, spreads of
    embeddings, and text files of samples.
    """
    measures = [row for row in run.series if _is_variety(row) and np.isfinite(row.values).sum() >= FEWEST]
    files = [file.path for file in run.files if file.role == "output" and file.path.endswith(_TEXTS)]
    classes = [*_one_class(run), *_confused(run), *_unbalanced(run), *_all_positive(run)]
    if not measures and not files and not classes:
        raise NoData("no measure of variety among the series and no text file of samples")
    signals = [signal for row in measures if (signal := _measured(run, row)) is not None]
    signals += [signal for path in files if (signal := _read(run, path)) is not None]
    signals += classes
    return OutputReport(series=[row.original for row in measures], files=files, signals=signals)


def _is_variety(row: Series) -> bool:
    words = words_of(row)
    return bool(words & _DIVERSITY) or ("std" in words and bool(words & _SPREADS))


def _one_class(run: Run) -> list[Signal]:
    """A score of exactly zero beside a good accuracy, or an accuracy that is one number at every evaluation."""
    found = []
    for row in run.series:
        values = row.values[np.isfinite(row.values)]
        late = values[len(values) // 2 :]
        if len(values) < FEWEST or float(np.ptp(late)) > 0:
            continue
        words = words_of(row)
        facts: dict[str, Fact] = {"frozen_series": row.original, "frozen_value": float(late[0])}
        place = cite(run, row, len(row) - 1, f"`{row.original}` is {late[0]:g} to the end")
        of_a_class = bool(words & _PER_CLASS) or (bool(words & {"acc", "accuracy"}) and len(words - _PHASES) > 1)
        if words & _OUTPUTS and words & {"mean", "std", "var", "max"} and float(np.ptp(values[1:])) == 0.0:
            claim = f"`{row.original}` is {late[0]:g} at every evaluation: whatever goes in, the same comes out"
            found.append(Signal(id="outputs-constant", claim=claim, citations=[place], facts=facts))
        elif of_a_class and float(late[0]) == 0.0:
            claim = f"`{row.original}` is exactly 0 over the second half of the run: that class is never predicted"
            found.append(Signal(id="one-class-predicted", claim=claim, citations=[place], facts=facts))
        elif is_accuracy(row.name) and row.phase != "train" and 0 < late[0] < 1 and float(np.ptp(values)) == 0:
            claim = f"`{row.original}` is {late[0]:g} at every one of {len(values)} evaluations"
            found.append(Signal(id="accuracy-frozen", claim=claim, citations=[place], facts=facts))
    return found


def _unbalanced(run: Run) -> list[Signal]:
    """A high accuracy beside a balanced one that guessing would give."""
    scores = {
        bool(words_of(row) & {"bal", "balanced"}): row for row in run.series if words_of(row) & {"acc", "accuracy"}
    }
    balanced, plain = scores.get(True), scores.get(False)
    if balanced is None or plain is None or min(len(balanced), len(plain)) < FEWEST:
        return []
    level, shown = (float(np.median(row.values[-max(1, len(row) // 4) :])) for row in (balanced, plain))
    if not (0.45 <= level <= 0.55 and 0.85 <= shown <= 1):
        return []
    claim = f"`{balanced.original}` stays at {level:.3g} where `{plain.original}` is {shown:.3g}: one class takes all"
    facts: dict[str, Fact] = {"frozen_series": balanced.original, "frozen_value": level}
    place = cite(run, balanced, len(balanced) - 1, claim)
    return [Signal(id="one-class-predicted", claim=claim, citations=[place], facts=facts)]


def _all_positive(run: Run) -> list[Signal]:
    """A recall of one beside a precision that is the accuracy: everything is called positive."""
    scores = {name: _score(run, name) for name in ("recall", "precision", "accuracy")}
    recall, precision, right = scores["recall"], scores["precision"], scores["accuracy"]
    if recall is None or precision is None or right is None:
        return []
    ends = [float(row.values[-1]) for row in (precision, right)]
    if not (recall.values[-2:] == 1.0).all() or abs(ends[0] - ends[1]) > 1e-6 or ends[0] > 0.9:
        return []
    claim = (
        f"`{recall.original}` is 1 and `{precision.original}` is the accuracy, {ends[1]:.4g}: all are called positive"
    )
    facts: dict[str, Fact] = {"frozen_series": right.original, "frozen_value": ends[1]}
    place = cite(run, recall, len(recall) - 1, claim)
    return [Signal(id="one-class-predicted", claim=claim, citations=[place], facts=facts)]


def _score(run: Run, name: str) -> Series | None:
    """The longest series of a score, training aside."""
    rows = [row for row in run.series if name in words_of(row) and row.phase != "train" and len(row) > 1]
    return max(rows, key=len, default=None)


def _confused(run: Run) -> list[Signal]:
    """The last confusion matrix that a log shows, where one column of it holds everything."""
    for file in run.files:
        if file.role != "log":
            continue
        found = None
        for first, text in _about_confusion(run, file.path):
            rows = [[int(cell) for cell in _COUNT.findall(row)] for row in _ROWS.findall(text)]
            rows = rows or _under(run, file.path, first)
            square = len(rows) > 1 and all(len(row) == len(rows) for row in rows)
            found = (first, text, np.array(rows)) if square else found
        if found is None:
            continue
        line, text, matrix = found
        real, predicted = matrix.sum(axis=1), matrix.sum(axis=0)
        if np.count_nonzero(real) > 1 and predicted.max() >= ONE_CLASS * predicted.sum() > 0:
            others = predicted.sum() - predicted.max()
            claim = f"all but {others} of {predicted.sum()} predictions are class {predicted.argmax()}"
            place = Citation(claim=claim, source=file.path, locator=f"line {line}", quote=text.strip()[:240])
            facts: dict[str, Fact] = {"frozen_series": "the confusion matrix", "frozen_value": int(predicted.argmax())}
            return [Signal(id="one-class-predicted", claim=claim, citations=[place], facts=facts)]
    return []


def _about_confusion(run: Run, path: str) -> list[tuple[int, str]]:
    """Lines that speak of a confusion matrix, where the log ends."""
    last = max((int(row.lines[-1]) for row in run.series if row.source == path and len(row)), default=TAIL)
    first = max(1, last - TAIL)
    lines = enumerate(run.lines(path, first, last + MOST_CLASSES), first)
    return [(number, text) for number, text in lines if len(text) < 2_000 and "confusion" in text.lower()]


def _under(run: Run, path: str, line: int) -> list[list[int]]:
    """The rows of whole numbers that stand under a heading, their names aside."""
    rows: list[list[int]] = []
    for text in run.lines(path, line + 1, line + MOST_CLASSES):
        cells = [int(cell) for cell in _COUNT.findall(text)]
        if len(cells) < 2 or "." in text or (rows and len(cells) != len(rows[0])):
            if rows:
                break
            continue
        rows.append(cells)
    return rows


def _measured(run: Run, row: Series) -> Signal | None:
    values = np.where(np.isfinite(row.values), row.values, np.nan)
    quarter = max(1, len(values) // 4)
    top = int(np.nanargmax(values))
    late = values[-quarter:][np.isfinite(values[-quarter:])]
    if not len(late) or values[top] <= 0:
        return None
    peak, end, last = float(values[top]), float(np.median(late)), len(row) - 1
    whole = _whole(run, row)
    count = bool(words_of(row) & {"distinct", "unique", "modes", "uniq"}) and peak >= 2
    if end <= COLLAPSED * peak or (count and end <= 1) or (whole > 2 * max(end, 1) and end <= 1):
        fallen = np.flatnonzero(values > max(COLLAPSED * peak, 1.0 if count else 0.0))
        since = where(row, min(last, int(fallen[-1]) + 1))
        claim = f"`{row.original}` fell from {peak:.4g} to {end:.4g}; from {since} on the outputs repeat"
        facts: dict[str, Fact] = {
            "diversity_series": row.original,
            "diversity_start": peak,
            "diversity_end": end,
            "collapsed_at": since,
        }
        places = [cite(run, row, top, "varied outputs"), cite(run, row, last, "the outputs at the end")]
        return Signal(id="outputs-collapsed", claim=claim, citations=places, facts=facts)
    if end >= 0.5 * max(peak, whole) and (end >= 2 or not words_of(row) & {"modes", "distinct", "unique", "uniq"}):
        claim = f"`{row.original}` is {end:.4g} at the end, {peak:.4g} at its highest"
        return Signal(id="outputs-varied", claim=claim, citations=[cite(run, row, last, claim)])
    return None


def _whole(run: Run, row: Series) -> float:
    """The number after the slash in `modes: 1/6`; zero where there is none."""
    if row.place != "line":
        return 0.0
    text = "".join(run.lines(row.source, int(row.lines[-1]), int(row.lines[-1])))
    found = re.search(re.escape(row.original) + r"\W{0,3}[\d.]+\s?/\s?(\d{1,9})\b", text)
    return float(found[1]) if found else 0.0


def _read(run: Run, path: str) -> Signal | None:
    """A file of samples, one per line or one text: the same line, or the same word, over and over."""
    lines = [(number, line.strip()) for number, line in enumerate(run.lines(path, 1, 2000), 1)]
    lines = [(number, line[:500]) for number, line in lines if line]
    if path.endswith(".jsonl"):
        return _looping(path, lines)
    words = [word for _, line in lines for word in _WORD.findall(line)][:LARGEST]
    if len(words) < 40:
        return None
    (common, times), share_of_words = Counter(words).most_common(1)[0], len(set(words)) / len(words)
    repeated, count = Counter(line for _, line in lines).most_common(1)[0]
    one_line = len(lines) >= FEWEST_LINES and count >= 0.6 * len(lines)
    one_word = times >= 0.6 * len(words) and share_of_words < 0.2
    if not one_line and not one_word:
        return None
    text = repeated if one_line else next(line for _, line in lines if common in line)
    line = next(number for number, found in lines if found == text)
    claim = (
        f"{count} of {len(lines)} samples in {path} are the same" if one_line else f"`{common}` over and over in {path}"
    )
    facts: dict[str, Fact] = {"diversity_series": path, "diversity_start": len(lines), "diversity_end": 1}
    place = Citation(claim=claim, source=path, locator=f"line {line}", quote=text[:200])
    return Signal(id="outputs-collapsed", claim=claim, citations=[place], facts=facts)


def _looping(path: str, lines: list[tuple[int, str]]) -> Signal | None:
    """The last record of samples, one JSON object per line: the same few words over and over."""
    if len(lines) < 2:
        return None
    number, text = lines[-1]
    words = [word for sample in re.findall(r'"([^"]{20,2000})"', text) for word in _WORD.findall(sample)][:LARGEST]
    pairs = list(pairwise(words))
    if len(words) < 40 or len(set(pairs)) > LOOPING * len(pairs):
        return None
    claim = f"of {len(pairs)} pairs of words in the last samples only {len(set(pairs))} differ"
    facts: dict[str, Fact] = {"diversity_series": path, "diversity_start": len(pairs), "diversity_end": len(set(pairs))}
    place = Citation(claim=claim, source=path, locator=f"line {number}", quote=text[:200])
    return Signal(id="outputs-collapsed", claim=claim, citations=[place], facts=facts)
