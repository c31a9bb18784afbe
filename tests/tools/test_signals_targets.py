"""Data by other names: targets that only the program calls so, Parquet, texts beside labels, lists of one source."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.extras import parquet as parquet_files
from tests.extras import pyarrow
from tests.tools.signal_case import Case, Files, case, check, log, losses

DATA = "inspect_data"
LOOP = """
import torch
from torch import nn
from torch.utils.data import DataLoader
"""
TOPICS = {"sport": "match goal team coach", "food": "oven flour taste salt", "law": "court judge appeal clause"}


def rows(count: int, target: str, labels: list[int], more: str = "") -> str:
    draw = np.random.default_rng(1)
    head = f"{more + ',' if more else ''}a,b,c,{target}"
    body = [
        f"{str(place + 4000) + ',' if more else ''}{','.join(f'{x:.5f}' for x in draw.normal(size=3))},{labels[place]}"
        for place in range(count)
    ]
    return "\n".join([head, *body]) + "\n"


def program(line: str, loader: str = "DataLoader(rows, batch_size=16)") -> str:
    return (
        f"{LOOP}\nframe = pd.read_csv('walks.csv')\n{line}\ntrain_loader = {loader}\n"
        "for x, y in train_loader:\n    loss = nn.functional.cross_entropy(net(x), y)\n    loss.backward()\n"
    )


def walks(line: str, loader: str = "DataLoader(rows, batch_size=16)", in_order: bool = True) -> Files:
    drawn = [int(n) for n in np.random.default_rng(2).integers(0, 4, 400)]
    labels = sorted(drawn) if in_order else drawn
    return {"walks.csv": rows(400, "gait", labels), "fit.py": program(line, loader)}


def dated(sort: bool, loader: str = "DataLoader(rows, batch_size=16)") -> Files:
    days = [f"2024-{1 + n // 28:02d}-{1 + n % 28:02d}" for n in range(300)]
    days = days if sort else list(np.random.default_rng(3).permutation(days))
    body = "\n".join(f"{day},{n % 7}.5,{(n * 37) % 11}.25" for n, day in enumerate(days))
    return {"walks.csv": f"date,load,price\n{body}\n", "fit.py": program("rows = frame.values", loader)}


def parquet(shared: int, index: bool = False) -> Files:
    """Two splits of measured rows of which some are in both; the numbers of the rows differ."""

    def split(first: int, seed: int) -> Callable[[], bytes]:
        def written() -> bytes:
            own, both = (np.random.default_rng(one).normal(size=(200, 6)) for one in (seed, 9))
            values = np.concatenate([own[shared:], both[:shared]])
            columns = {f"f{n}": values[:, n] for n in range(6)} | {"outcome": (values[:, 0] > 0).astype(int)}
            if index:
                columns["__index_level_0__"] = np.arange(first, first + 200)
            out = io.BytesIO()
            parquet_files.write_table(pyarrow.table(columns), out)
            return out.getvalue()

        return written

    return {"train.parquet": split(0, 1), "valid.parquet": split(5000, 2)}


def articles() -> list[dict[str, str]]:
    draw = np.random.default_rng(4)
    found: list[dict[str, str]] = []
    for place in range(300):
        topic = str(draw.choice(list(TOPICS)))
        words = [*draw.choice(TOPICS[topic].split(), 3), *draw.choice(["the", "a", "was", "very", "then", "about"], 4)]
        found.append({"body": " ".join(map(str, draw.permutation(words))) + f" {place}", "topic": topic})
    return found


def worded(mixed: bool) -> Files:
    lines = "\n".join(json.dumps(row) for row in articles())
    labels = [row["topic"] for row in articles()]
    labels = labels[::-1] if mixed else labels
    cached = [{**row, "topic": label} for row, label in zip(articles(), labels, strict=True)]
    code = f"{LOOP}\nitems = [json.loads(s) for s in open('articles.jsonl')]\ny = [one['topic'] for one in items]\n"
    return {"articles.jsonl": lines, "cache.json": json.dumps(cached, indent=1), "fit.py": code}


def lists(*lines: str) -> Files:
    body = ["items = load('pairs.jsonl')", "docs = [i['doc'] for i in items]", "kinds = [i['kind'] for i in items]"]
    return {"fit.py": LOOP + "\n".join([*body, *lines, "data = list(zip(docs, kinds))"]) + "\n", **log(losses())}


def shards(sizes: list[int]) -> Files:
    def written(count: int) -> Callable[[], bytes]:
        def write() -> bytes:
            out = io.BytesIO()
            np.save(out, np.random.default_rng(count).normal(size=(count, 4)))
            return out.getvalue()

        return write

    return {f"shard_{n:03d}.npy": written(size) for n, size in enumerate(sizes)}


CASES = [
    case(DATA, "sorted by a column that only the code calls a target",
         walks("y = torch.tensor(frame.gait.values)"), "labels-in-order-unshuffled"),
    case(DATA, "the same, popped from the frame", walks("label = frame.pop('gait')"), "labels-in-order-unshuffled"),
    case(DATA, "a target in no order", walks("y = frame['gait']", in_order=False), "loader-unshuffled",
         "labels-in-order-unshuffled"),
    case(DATA, "by its looks alone", walks("rows = frame.values"), "labels-in-order-unshuffled"),
    case(DATA, "sorted and drawn at random", walks("y = frame['gait']", "DataLoader(rows, 16, shuffle=True)"),
         silent="labels-in-order-unshuffled"),
    case(DATA, "rows by date", dated(sort=True), "time-in-order-unshuffled"),
    case(DATA, "dates in no order", dated(sort=False), silent="time-in-order-unshuffled"),
    case(DATA, "rows by date, drawn at random", dated(True, "DataLoader(rows, 16, shuffle=True)"),
         silent="time-in-order-unshuffled"),
    case(DATA, "a number that counts the rows is no input",
         {"t.csv": rows(400, "label", [n % 3 for n in range(400)], "plot")}, silent="inputs-raw inputs-unscaled"),
    case(DATA, "Parquet splits that share rows", parquet(60), "splits-share-rows"),
    case(DATA, "Parquet splits that share rows under other numbers", parquet(60, index=True), "splits-share-rows"),
    case(DATA, "clean Parquet splits", parquet(0), silent="splits-share-rows"),
    case(DATA, "texts with the labels of others", worded(mixed=True), "labels-misaligned"),
    case(DATA, "texts with their labels", worded(mixed=False), silent="labels-misaligned labels-noisy-in-train"),
    case(DATA, "one of two lists is shuffled", lists("random.shuffle(docs)"), "one-list-shuffled"),
    case(DATA, "both are shuffled", lists("random.seed(3)", "random.shuffle(docs)", "random.seed(3)",
                                          "random.shuffle(kinds)"), silent="one-list-shuffled"),
    case(DATA, "the rows are shuffled before", lists("random.shuffle(items)"), silent="one-list-shuffled"),
    case(DATA, "a shuffled copy of names", lists("names = sorted(set(kinds))", "random.shuffle(names)"),
         silent="one-list-shuffled"),
    case(DATA, "an empty shard", shards([40, 0, 40, 40]), "shards-empty"),
    case(DATA, "shards of different length", shards([40, 12, 40, 7]), silent="shards-empty"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_signal(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
