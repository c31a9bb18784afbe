"""Outputs that collapse: one class, one number, the same text again and again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.tools.signal_case import (
    Case,
    case,
    check,
    falling,
    log,
    losses,
    table,
)

OUTPUTS = "inspect_outputs"


def samples(lines: Sequence[str]) -> dict[str, str]:
    return {**table(loss=falling()), "samples.txt": "\n".join(lines) + "\n"}


def matrix(*rows: str) -> dict[str, str]:
    return log([*losses(), "confusion matrix (rows true, columns predicted)", *rows])


def judged(recall: float, precision: float) -> dict[str, str]:
    columns = {"loss": falling(8), "eval_accuracy": [0.1867] * 8}
    return table(**columns, eval_precision=[precision] * 8, eval_recall=[recall] * 8)


def answers(given: Sequence[str]) -> dict[str, str]:
    rows = [f"{n},{text},{('ok', 'spam', 'abuse')[n % 3]}" for n, text in enumerate(given)]
    return {"predictions.csv": "\n".join(["id,prediction,label", *rows]) + "\n"}


def numbers(given: Sequence[float]) -> dict[str, str]:
    rows = [f"{value},{n * 1.1}" for n, value in enumerate(given)]
    return {"predictions.csv": "\n".join(["y_pred,y_true", *rows]) + "\n"}


def reasons(reason: str) -> dict[str, str]:
    rows = [
        f'{{"completion": "{" ".join(f"w{n}{k}" for k in range(20 + n))}", "finish_reason": "{reason}"}}'
        for n in range(10)
    ]
    return {"samples.jsonl": "\n".join(rows) + "\n"}


def tuned(collator: str) -> dict[str, str]:
    lines = ["from transformers import Trainer", "tokenizer.pad_token = tokenizer.eos_token", f"collator = {collator}"]
    return {"sft.py": "\n".join([*lines, "Trainer(model, data_collator=collator).train()"]) + "\n"}


CASES = [
    case(OUTPUTS, "one sample is left", table(loss=falling(), distinct=[40, 38, 30, *[1] * 27]), "outputs-collapsed",
         "outputs-varied"),
    case(OUTPUTS, "as varied as ever", table(loss=falling(), distinct=[40, 38, *[39] * 28]), "outputs-varied",
         "outputs-collapsed"),
    case(OUTPUTS, "a third is left", table(loss=falling(), distinct=[40, 38, *[14] * 28]),
         silent="outputs-varied outputs-collapsed"),
    case(OUTPUTS, "one sentence over and over", samples(["the cat sat on the mat today"] * 20), "outputs-collapsed"),
    case(OUTPUTS, "twenty sentences", samples([f"sample {n} tells of {n * 7} other things" for n in range(20)]),
         silent="outputs-collapsed"),
    case(OUTPUTS, "dots to every prompt", samples(["prompt: so it goes", "." * 60] * 4), "outputs-collapsed"),
    case(OUTPUTS, "one answer behind its label", samples(["prompt: so", "output: the cat sat on a mat"] * 9),
         "outputs-collapsed"),
    case(OUTPUTS, "rules between tales", samples([row for n in range(9) for row in (f"tale {n} of {n * 7}", "." * 9)]),
         silent="outputs-collapsed"),
    case(OUTPUTS, "one prompt, answered in many ways",
         samples([row for n in range(9) for row in ("prompt: go on", f"then {n} came and {n * 7} left {n * 3}")]),
         silent="outputs-collapsed"),
    case(OUTPUTS, "no recall at all", table(loss=falling(), recall=[0.1, 0.05, *[0.0] * 28]), "one-class-predicted",
         "accuracy-frozen"),
    case(OUTPUTS, "a little recall", table(loss=falling(), recall=[0.1, 0.05, *[0.02, 0.01] * 14]),
         silent="one-class-predicted"),
    case(OUTPUTS, "one accuracy for ever", table(loss=falling(), val_acc=[0.9125] * 30), "accuracy-frozen",
         "one-class-predicted"),
    case(OUTPUTS, "an accuracy of one for ever", table(loss=falling(), val_acc=[1.0] * 30), silent="accuracy-frozen"),
    case(OUTPUTS, "an accuracy that has arrived", table(loss=falling(), val_acc=[0.5, 0.7, 0.8, *[0.9125] * 27]),
         silent="accuracy-frozen"),
    case(OUTPUTS, "one column has it all", matrix("disc 0 0 95", "ring 0 0 96", "bolt 0 1 107"), "one-class-predicted"),
    case(OUTPUTS, "a matrix in one line", log([*losses(), "epoch 31 confusion [[0, 50], [0, 48]]"]),
         "one-class-predicted"),
    case(OUTPUTS, "a diagonal", matrix("disc 90 3 2", "ring 1 95 0", "bolt 0 1 107"), silent="one-class-predicted"),
    case(OUTPUTS, "only one class there is", matrix("disc 0 0 0", "ring 0 0 0", "bolt 0 0 107"),
         silent="one-class-predicted"),
    case(OUTPUTS, "nothing under the word", log([*losses(), "confusion matrix saved to cm.png"]),
         silent="one-class-predicted"),
    case(OUTPUTS, "one number whatever goes in", table(loss=falling(), pred_mean=[0.0] * 30), "outputs-constant"),
    case(OUTPUTS, "a mean that moves", table(loss=falling(), pred_mean=np.linspace(0, 0.4, 30).tolist()),
         silent="outputs-constant"),
    case(OUTPUTS, "no pixel of one class", table(loss=falling(), **{"IoU.lesion": [0.0] * 30}), "one-class-predicted"),
    case(OUTPUTS, "samples in a circle", {"completions.jsonl": "".join(
        f'{{"step": {n}, "samples": ["{"the dull doc cast bad " * 20}"]}}\n' for n in range(3))}, "outputs-collapsed"),
    case(OUTPUTS, "samples that vary", {"completions.jsonl": "".join(
        f'{{"step": {n}, "samples": ["{" ".join(f"word{k}" for k in range(60))}"]}}\n' for n in range(3))},
         silent="outputs-collapsed"),
    case(OUTPUTS, "right on the whole, and as good as guessing",
         table(loss=falling(), acc=[0.98 + 0.0001 * n for n in range(30)], bal_acc=[0.52] * 30), "one-class-predicted"),
    case(OUTPUTS, "right on the whole and in each class",
         table(loss=falling(), acc=[0.98 + 0.0001 * n for n in range(30)], bal_acc=[0.93] * 30),
         silent="one-class-predicted"),
    case(OUTPUTS, "one mode and never more", table(loss=falling(), modes_hit=[1] * 30), silent="outputs-varied"),
    case(OUTPUTS, "colons in the log", log([*losses(), "--- sample ---", ": " * 60, "--------------"]),
         "outputs-collapsed"),
    case(OUTPUTS, "circles at first, prose at last", log([
        line for n in range(12) for line in (f"epoch {n} loss {3 - n / 5}", "--- sample ---",
        "the the " * 20 if n < 4 else " ".join(f"word{n}{k}" for k in range(40)), "---------")]), "outputs-varied",
         "outputs-collapsed"),
    case(OUTPUTS, "references that repeat as well", log([
        line for n in range(8) for line in ("target: na na na na na na na na na", "pred: na na na na na na na na na")]),
         silent="outputs-collapsed"),
    case(OUTPUTS, "one answer to all questions", log([
        f"prompt: what is {n} and {n * 7} -> I do not know that." for n in range(12)]), "outputs-collapsed"),
    case(OUTPUTS, "a notice again and again", log([
        line for n in range(9) for line in (f"epoch {n} loss {3 - n / 5}", "prediction: written to preds.npy")]),
         silent="outputs-collapsed"),
    case(OUTPUTS, "a file of one class", answers(["ok"] * 60), "one-class-predicted"),
    case(OUTPUTS, "a file of all classes", answers(["ok", "spam", "abuse"] * 20), silent="one-class-predicted"),
    case(OUTPUTS, "a file of one number", numbers([3.2] * 60), "outputs-constant"),
    case(OUTPUTS, "a file of many numbers", numbers([n * 0.9 for n in range(60)]),
         silent="outputs-constant outputs-not-finite"),
    case(OUTPUTS, "a file of NaN", numbers([float("nan")] * 60), "outputs-not-finite"),
    case(OUTPUTS, "always at the limit", reasons("length"), "samples-never-stop", "samples-stop"),
    case(OUTPUTS, "ends by itself", reasons("stop"), "samples-stop", "samples-never-stop"),
    case(OUTPUTS, "every completion is cut off", table("step", 1, loss=falling(), **{
        "completions/clipped_ratio": [1.0] * 30}), "samples-never-stop"),
    case(OUTPUTS, "the end is masked", tuned("DataCollatorForLanguageModeling(tokenizer, mlm=False)"),
         "eos-is-padding"),
    case(OUTPUTS, "the end that the program writes itself is masked", tuned(
        "DataCollatorForLanguageModeling(tokenizer, mlm=False)\nrows = [tokenizer(a + tokenizer.eos_token)]"),
         "own-end-is-masked"),
    case(OUTPUTS, "masked by hand", tuned("lambda r: r\ny = torch.where(x == tokenizer.pad_token_id, -100, x)"),
         "eos-is-padding", "own-end-is-masked"),
    case(OUTPUTS, "a loss that ignores the pad id", tuned(
        "None\nloss = nn.CrossEntropyLoss(ignore_index=tokenizer.pad_token_id)\ntext = f'{q}{tokenizer.eos_token}'"),
         "own-end-is-masked"),
    case(OUTPUTS, "padded by position, with an end", tuned(
        "DataCollatorForSeq2Seq(tokenizer)\ntext = f'{q} {a}{tokenizer.eos_token}'"),
         silent="eos-is-padding own-end-is-masked"),
    case(OUTPUTS, "as long as allowed on average", log([*losses(), "mean new tokens 64.00 (limit 64)"]),
         "samples-never-stop", "samples-stop"),
    case(OUTPUTS, "shorter than allowed on average", log([*losses(), "avg completion length: 21.3 / 64"]),
         "samples-stop", "samples-never-stop"),
    case(OUTPUTS, "masked by position", tuned("DataCollatorForSeq2Seq(tokenizer)"), silent="eos-is-padding"),
    case(OUTPUTS, "all are called positive", judged(1.0, 0.1867), "one-class-predicted"),
    case(OUTPUTS, "nearly all", judged(0.98, 0.2), silent="one-class-predicted"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
