"""The data itself: gaps, scale, labels, order, overlap of the splits, alignment, and what the program does about it."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.tools.signal_case import Case, Files, case, check, falling, log, losses, table

DATA = "inspect_data"
LOOP = """
import torch
from torch import nn
from torch.utils.data import DataLoader


def fit(model, opt, train_loader):
    for x, y in train_loader:
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def named(mixed: float, name: str = "") -> dict[str, str]:
    """A list of files with their labels, of which a part is drawn anew."""
    draw, kinds = random(3), ["wren", "siskin", "great tit", "tit"]
    rows = []
    for n in range(240):
        kind = kinds[n % 4]
        label = kinds[int(draw.integers(4))] if draw.random() < mixed else kind
        rows.append(f"{(name or kind).replace(' ', '_')}_{n:03d}.wav,{label}")
    return {"index.csv": "\n".join(["file,label", *rows])}


def blobs(rows: int, seed: int = 0, classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Inputs that tell their label: one cloud a class."""
    draw, centres = random(seed), random(99).normal(0, 3, (classes, 4))
    labels = draw.integers(0, classes, rows)
    return centres[labels] + draw.normal(0, 0.5, (rows, 4)), labels


def csv(inputs: np.ndarray, labels: Iterable[object], names: Sequence[str] = "abcd", target: str = "label") -> str:
    rows = [
        ",".join([*(f"{value:.5g}" for value in row), str(label)]) for row, label in zip(inputs, labels, strict=True)
    ]
    return "\n".join([",".join([*names[: inputs.shape[1]], target]), *rows]) + "\n"


def npy(array: np.ndarray) -> Callable[[], bytes]:
    def written() -> bytes:
        handle = io.BytesIO()
        np.save(handle, array)
        return handle.getvalue()

    return written


def plain(rows: int = 120, **changed: np.ndarray) -> dict[str, str]:
    inputs, labels = blobs(rows)
    return {"data/train.csv": csv(changed.get("inputs", inputs), changed.get("labels", labels))}


def gap(line: int) -> dict[str, str]:
    rows = plain()["data/train.csv"].split("\n")
    rows[line] = "," + rows[line].partition(",")[2]
    return {"data/train.csv": "\n".join(rows)}


def script(body: str) -> dict[str, str]:
    return {"train.py": LOOP + body + "\n"}


def sorted_rows() -> dict[str, str]:
    inputs, labels = blobs(300)
    order = np.argsort(labels, kind="stable")
    return {"data/train.csv": csv(inputs[order], labels[order])}


def of_patients(held: Iterable[int], each: int = 8, called: str = "patient") -> dict[str, str]:
    """Two splits with the same number of rows for each patient: twelve in training, others or the same held out."""
    spread = np.random.default_rng(5)

    def rows(patients: Iterable[int]) -> str:
        measured = ((f"P{n:02d}", *spread.normal(size=4).round(5)) for n in patients for _ in range(each))
        return f"{called},a,b,c,d\n" + "".join(",".join(map(str, row)) + "\n" for row in measured)

    return {"train.csv": rows(range(12)), "val.csv": rows(held)}


def splits(shared: int) -> dict[str, str]:
    (train, labels), (held, wanted) = blobs(200), blobs(80, seed=5)
    held[:shared], wanted[:shared] = train[:shared], labels[:shared]
    return {"data/train.csv": csv(train, labels), "data/val.csv": csv(held, wanted)}


def pair(moved: int = 0, rows: int = 400) -> Files:
    inputs, labels = blobs(rows)
    return {"x_train.npy": npy(inputs), "y_train.npy": npy(np.roll(labels, moved))}


def noisy(share: float) -> Files:
    (train, labels), (held, wanted) = blobs(400), blobs(300, seed=7)
    mixed = random(3).random(len(labels)) < share
    labels = np.where(mixed, random(4).integers(0, 3, len(labels)), labels)
    return {"train.csv": csv(train, labels), "val.csv": csv(held, wanted)}


def skewed(rare: int) -> dict[str, str]:
    inputs, _ = blobs(400)
    return {"data/train.csv": csv(inputs, [int(row < rare) for row in range(400)])}


def scored(scores: Sequence[float]) -> dict[str, str]:
    return {**skewed(20), **table(loss=falling(len(scores)), val_acc=scores)}


CLASSES = "num_classes: 3\n"
PICTURES = """
class Pictures:
    def __getitem__(self, i):
        return torch.tensor(self.img[i], dtype=torch.uint8).float(){divided}
"""
WIDE = np.array([1.0, 4000.0, 0.001, 300.0])
FEW = random(1).integers(0, 2, (300, 4)).astype(float)


def oversampled() -> dict[str, str]:
    """Long rows of one class, repeated until the classes are even, and split after that."""
    chance = np.random.default_rng(5)
    rows = chance.normal(size=(60, 8)).round(6)
    drawn = np.concatenate([rows, rows[chance.integers(0, 12, 80)]])[chance.permutation(140)]
    return {
        "data/train.csv": csv(drawn[:110], drawn[:110, 0] > 0),
        "data/val.csv": csv(drawn[110:], drawn[110:, 0] > 0),
    }


def tiles(count: int, different: int = 0, folder: str = "tiles") -> dict[str, bytes]:
    """Pictures in two folders, all of the same bytes but for some."""
    same = b"\x89PNG\r\n\x1a\n" + bytes(60)
    return {
        f"{folder}/{'ab'[n % 2]}/{n:04d}.png": same + (bytes([1, n]) if n < different else b"") for n in range(count)
    }


CASES = [
    case(DATA, "one empty cell", gap(77), "data-not-finite"),
    case(DATA, "a NaN in an array", {"x.npy": npy(np.array([[1.0, np.nan]] * 20))}, "data-not-finite"),
    case(DATA, "empty cells among names", {"data/train.csv": "name,a,label\n" + "".join(
        f"{'' if n % 3 else 'x'},{n * 0.7},{n % 2}\n" for n in range(60))}, silent="data-not-finite"),
    case(DATA, "all there", plain(), silent="data-not-finite data-constant inputs-raw label-stray shards-differ"),
    case(DATA, "features orders apart", plain(inputs=blobs(120)[0] * WIDE), "inputs-raw", "inputs-unscaled"),
    case(DATA, "features apart and nobody scales", {**plain(inputs=blobs(120)[0] * WIDE), **script("")},
         "inputs-unscaled", "inputs-raw inputs-scaled"),
    case(DATA, "features apart and scaled", {**plain(inputs=blobs(120)[0] * WIDE), **script(
        "x = (x - x.mean(0)) / x.std(0)")}, "inputs-scaled", "inputs-unscaled"),
    case(DATA, "features of one size", {**plain(), **script("")}, silent="inputs-unscaled inputs-raw"),
    case(DATA, "raw pixels in an array", {"x_train.npy": npy(random().integers(0, 256, (40, 8, 8)).astype("u1"))},
         "inputs-raw"),
    case(DATA, "token ids", {"tokens.npy": npy(random().integers(0, 50_000, (40, 64)))}, silent="inputs-raw"),
    case(DATA, "a batch of raw pixels", log(["batch min 0.0 max 255.0 mean 131.2 std 88.1", *losses()]),
         "batch-unscaled", "batch-scaled"),
    case(DATA, "a batch in order", log(["batch: mean=0.02 std=0.98 min=-2.1 max=2.7", *losses()]), "batch-scaled",
         "batch-unscaled"),
    case(DATA, "statistics of a gradient", log(["gradient mean 131.2 std 88.1", *losses()]), silent="batch-unscaled"),
    case(DATA, "bytes that become floats", script(PICTURES.format(divided="")),
         "pixels-unscaled-in-code", "inputs-scaled"),
    case(DATA, "bytes that are divided", script(PICTURES.format(divided=" / 255")),
         "inputs-scaled", "pixels-unscaled-in-code"),
    case(DATA, "nothing but zeros", {"x_train.npy": npy(np.zeros((50, 8)))}, "data-constant"),
    case(DATA, "pictures that are one file", tiles(30), "pictures-identical"),
    case(DATA, "pictures that are one file but for one", tiles(30, 1), "pictures-identical"),
    case(DATA, "pictures with content", tiles(30, 30), silent="pictures-identical"),
    case(DATA, "some empty pictures", tiles(30, 12), silent="pictures-identical"),
    case(DATA, "empty masks", tiles(30, folder="masks"), silent="pictures-identical"),
    case(DATA, "a handful of placeholders", tiles(6), silent="pictures-identical"),
    case(DATA, "a mask of ones", {"mask_train.npy": npy(np.ones((50, 8)))}, silent="data-constant"),
    case(DATA, "one dead column of four", plain(inputs=blobs(120)[0] * np.array([1, 1, 0, 1])),
         silent="data-constant"),
    case(DATA, "three dead columns of four", plain(inputs=blobs(120)[0] * np.array([1, 0, 0, 0])), "data-constant"),
    case(DATA, "labels from one", {**plain(labels=blobs(120)[1] + 1), "config.yaml": CLASSES}, "label-outside-classes"),
    case(DATA, "labels from zero", {**plain(), "config.yaml": CLASSES}, silent="label-outside-classes"),
    case(DATA, "a marker that the loss ignores", {
        **plain(labels=np.where(np.arange(120) == 9, -1, blobs(120)[1])),
        "config.yaml": CLASSES + "ignore_index: -1\n"},
         silent="label-outside-classes"),
    case(DATA, "one label that nobody else has", plain(800, inputs=blobs(800)[0], labels=np.where(
        np.arange(800) == 700, 57, blobs(800)[1])), "label-stray"),
    case(DATA, "nineteen in twenty", skewed(20), "class-frequencies-apart", "accuracy-at-majority"),
    case(DATA, "two in five", skewed(160), silent="class-frequencies-apart"),
    case(DATA, "frequencies in the log", log(["class distribution: {0: 9421, 1: 233}", *losses()]),
         "class-frequencies-apart"),
    case(DATA, "even frequencies in the log", log(["class distribution: {0: 421, 1: 433}", *losses()]),
         silent="class-frequencies-apart"),
    case(DATA, "as right as always saying no", scored([0.95] * 8), "accuracy-at-majority"),
    case(DATA, "better than always saying no", scored([0.95, 0.96, 0.97, 0.98] * 2), silent="accuracy-at-majority"),
    case(DATA, "weights for the rare", script("criterion = nn.CrossEntropyLoss(weight=counts)"), "classes-weighed"),
    case(DATA, "no weights", script("criterion = nn.CrossEntropyLoss()"), silent="classes-weighed"),
    case(DATA, "sorted by class", sorted_rows(), "labels-in-order", "labels-in-order-unshuffled"),
    case(DATA, "sorted and kept so", {**sorted_rows(), **script("train_loader = DataLoader(train_set, batch_size=8)")},
         "labels-in-order-unshuffled loader-unshuffled", "labels-in-order loader-shuffles"),
    case(DATA, "sorted and shuffled", {
        **sorted_rows(), **script("train_loader = DataLoader(train_set, batch_size=8, shuffle=True)")},
         "labels-in-order loader-shuffles", "labels-in-order-unshuffled loader-unshuffled"),
    case(DATA, "in no order", {**plain(300), **script("train_loader = DataLoader(train_set, batch_size=8)")},
         "loader-unshuffled", "labels-in-order labels-in-order-unshuffled"),
    case(DATA, "only validation keeps its order", script("val_loader = DataLoader(val_set, batch_size=8)"),
         silent="loader-unshuffled"),
    case(DATA, "gaps that are filled", script("frame = frame.fillna(0)"), "data-cleaned"),
    case(DATA, "nothing is filled", script(""), silent="data-cleaned"),
    case(DATA, "half of validation was trained on", splits(40), "splits-share-rows"),
    case(DATA, "clean splits", splits(0), silent="splits-share-rows"),
    case(DATA, "rows of the same patients on both sides", of_patients(range(12)), "splits-share-groups",
         "splits-share-rows"),
    case(DATA, "other patients in validation", of_patients(range(12, 24)), silent="splits-share-groups"),
    case(DATA, "one row of each patient", of_patients(range(12), each=1), silent="splits-share-groups"),
    case(DATA, "the same clinics, which are no persons", of_patients(range(12), called="clinic"),
         silent="splits-share-groups"),
    case(DATA, "few different rows there are", {
        "data/train.csv": csv(FEW, FEW[:, 0]), "data/val.csv": csv(FEW[:100], FEW[:100, 0])},
         silent="splits-share-rows"),
    case(DATA, "labels one row off", pair(moved=1), "labels-misaligned"),
    case(DATA, "labels where they belong", pair(), silent="labels-misaligned"),
    case(DATA, "a label is missing", {"x_train.npy": npy(blobs(60)[0]), "y_train.npy": npy(blobs(59)[1])},
         "labels-misaligned"),
    case(DATA, "labels drawn anew in training", noisy(1.0), "labels-noisy-in-train"),
    case(DATA, "a few wrong labels", noisy(0.05), silent="labels-noisy-in-train labels-misaligned"),
    case(DATA, "file names of another class", named(1.0), "labels-misaligned"),
    case(DATA, "file names of the class", named(0.0), silent="labels-misaligned"),
    case(DATA, "labels that were corrected by hand", named(0.2), silent="labels-misaligned"),
    case(DATA, "file names that tell no class", named(1.0, "clip"), silent="labels-misaligned"),
    case(DATA, "one grey picture", {
        f"img_{n:03d}.npy": npy(np.zeros((8, 8) if n == 7 else (8, 8, 3), "u1") + n) for n in range(10)},
         "shards-differ"),
    case(DATA, "pictures of one kind", {f"img_{n:03d}.npy": npy(np.zeros((8, 8, 3), "u1") + n) for n in range(10)},
         silent="shards-differ"),
    case(DATA, "nothing but background", log(["train: Scanning... 0 images, 478 backgrounds, 0 corrupt", *losses()]),
         "annotations-missing"),
    case(DATA, "some background", log(["train: Scanning labels... 431 images, 47 backgrounds, 0 corrupt", *losses()]),
         silent="annotations-missing"),
    case(DATA, "no instance in any epoch", table(loss=falling(12), instances=[0.0] * 12), "annotations-missing"),
    case(DATA, "instances in every epoch", table(loss=falling(12), instances=[40.0 + n for n in range(12)]),
         silent="annotations-missing"),
    case(DATA, "rows repeated before the split", oversampled(), "splits-share-rows"),
    case(DATA, "never a detection", table(loss=falling(12), mAP50=[0.0] * 12), "score-zero-for-good"),
    case(DATA, "a slow start", table(loss=falling(12), mAP50=[0.0] * 4 + [0.1 * n for n in range(8)]),
         silent="score-zero-for-good"),
    case(DATA, "one set for both", script("val_loader = DataLoader(train_set, batch_size=8)"), "validates-on-train"),
    case(DATA, "a set for each", script("val_loader = DataLoader(val_set, batch_size=8)"), silent="validates-on-train"),
    case(DATA, "one path twice", {"config.yaml": "data:\n  train_csv: a/train.csv\n  val_csv: a/train.csv\n"},
         "one-file-for-both"),
    case(DATA, "one root for all splits", {"config.yaml": "data:\n  train_dir: /data/cub\n  val_dir: /data/cub\n"},
         silent="one-file-for-both"),
    case(DATA, "one curve twice", table(train_loss=falling(), val_loss=falling()), "val-is-train"),
    case(DATA, "two curves", table(train_loss=falling(), val_loss=[value + 0.01 for value in falling()]),
         silent="val-is-train"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_signal(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
