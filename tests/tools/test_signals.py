"""Every signal fires where it must and stays silent on its near-misses."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.tools.calling import call, load
from traindx.readers import Run, Scope
from traindx.runtime import NoData

Files = dict[str, str]


def heard(tool: str, folder: Path, files: Files) -> set[str]:
    for name, text in files.items():
        (folder / name).write_text(text)
    loaded = load(tool)
    try:
        output = call(loaded, Run(Scope.of(folder)))
    except NoData:
        return set()
    for signal in output.signals:
        assert signal.id in loaded.emits
        assert signal.claim
        for place in signal.citations:
            lines = (folder / place.source).read_text().splitlines()
            first, _, last = place.locator.removeprefix("lines ").removeprefix("line ").split(",")[0].partition("-")
            assert place.quote in "\n".join(lines[int(first) - 1 : int(last or first)])
    return {signal.id for signal in output.signals}


def table(**columns: Sequence[float]) -> Files:
    rows = zip(*columns.values(), strict=True)
    body = "\n".join(f"{epoch},{','.join(map(str, row))}" for epoch, row in enumerate(rows, 1))
    return {"metrics.csv": f"epoch,{','.join(columns)}\n{body}\n"}


def falling(points: int = 30, floor: float = 0.3, noise: float = 0.01, seed: int = 0) -> list[float]:
    wobble = np.random.default_rng(seed).normal(0, noise, points)
    curve: list[float] = (floor + 2.0 * np.exp(-5 * np.arange(points) / points) + wobble).round(5).tolist()
    return curve


def broken(points: int = 30, at: int = 18, by: float = 3.0) -> list[float]:
    curve = falling(points)
    return [value + (by if index >= at else 0.0) for index, value in enumerate(curve)]


def spiked(height: float = 4.0) -> list[float]:
    curve = falling(60, noise=0.005)
    curve[40] += height
    return curve


def fitted(points: int = 24) -> tuple[list[float], list[float]]:
    train = falling(points, floor=0.02)
    val = [max(0.6, value + 0.3) + 0.03 * max(0, index - 8) for index, value in enumerate(train)]
    return train, val


CURVES: list[tuple[str, Files, set[str], set[str]]] = [
    ("diverged", table(train_loss=broken()), {"loss-diverged"}, {"loss-fell", "loss-spike-recovered"}),
    ("healthy", table(train_loss=falling()), {"loss-fell"}, {"loss-diverged", "loss-spike-recovered"}),
    ("noisy but healthy", table(train_loss=falling(noise=0.15)), {"loss-fell"}, {"loss-diverged"}),
    ("spike", table(train_loss=spiked()), {"loss-spike-recovered", "loss-fell"}, {"loss-diverged"}),
    ("small wobble", table(train_loss=spiked(0.05)), {"loss-fell"}, {"loss-spike-recovered", "loss-diverged"}),
    ("nan", table(train_loss=[*falling(20), *[float("nan")] * 5]), {"loss-non-finite"}, {"loss-fell"}),
    ("chance", table(train_loss=[2.303 + 0.003 * (-1) ** n for n in range(30)]), {"loss-at-chance"}, {"loss-fell"}),
    (
        "ln 2 on the way down is no chance level",
        table(train_loss=falling(30, floor=0.693)),
        {"loss-fell"},
        {"loss-at-chance"},
    ),
    (
        "ln 10 with a good accuracy is no chance level",
        table(train_loss=[2.303] * 20, val_acc=[0.7] * 20),
        set(),
        {"loss-at-chance"},
    ),
    ("never fell", table(train_loss=[5.0 + 0.01 * (-1) ** n for n in range(30)]), {"loss-never-fell"}, {"loss-fell"}),
    ("still falling", table(train_loss=np.linspace(3, 1, 30).tolist()), {"loss-still-falling"}, {"loss-never-fell"}),
    ("converged", table(train_loss=falling(60)), {"loss-fell"}, {"loss-still-falling"}),
    (
        "overfitting",
        table(train_loss=fitted()[0], val_loss=fitted()[1]),
        {"val-rises-while-train-falls"},
        {"val-follows-train"},
    ),
    (
        "a constant gap is no overfitting",
        table(train_loss=falling(), val_loss=[value + 0.4 for value in falling(seed=1)]),
        {"val-follows-train"},
        {"val-rises-while-train-falls"},
    ),
    (
        "a new level that goes on learning",
        table(train_loss=[*falling(18), *(np.linspace(1.9, 1.2, 12)).tolist()]),
        {"loss-shifted-level", "loss-diverged"},
        set(),
    ),
    ("a flat new level does not learn", table(train_loss=[*falling(18), *[1.9] * 12]), set(), {"loss-shifted-level"}),
    ("two points say nothing", table(train_loss=[1.0, 5.0]), set(), {"loss-diverged", "loss-fell", "loss-never-fell"}),
]


@pytest.mark.parametrize(("files", "must", "must_not"), [row[1:] for row in CURVES], ids=[row[0] for row in CURVES])
def test_loss_curves(tmp_path: Path, files: Files, must: set[str], must_not: set[str]) -> None:
    found = heard("analyze_loss_curve", tmp_path, files)
    assert must <= found
    assert not must_not & found


def norms(values: Sequence[float], loss: Sequence[float], config: str = "") -> Files:
    files = table(train_loss=loss, grad_norm=values)
    return {**files, "config.yaml": config} if config else files


GRADIENTS: list[tuple[str, Files, set[str], set[str]]] = [
    (
        "explodes before the loss breaks",
        norms([1.0] * 14 + [100.0] * 16, broken(at=18)),
        {"grad-norm-exploded-before-onset"},
        {"grad-norm-steady"},
    ),
    (
        "jumps with the loss",
        norms([1.0] * 18 + [20.0] * 12, broken(at=18)),
        {"grad-norm-jumped-at-onset"},
        {"grad-norm-exploded-before-onset"},
    ),
    (
        "steady",
        norms([1.0 + 0.1 * (n % 3) for n in range(30)], falling()),
        {"grad-norm-steady"},
        {"grad-norm-exploded"},
    ),
    ("grows a hundredfold", norms(np.geomspace(0.1, 50, 30).tolist(), falling()), {"grad-norm-exploded"}, set()),
    (
        "clipped away",
        norms([2.0] * 30, falling(), "max_grad_norm: 0.001\n"),
        {"updates-clipped-away"},
        {"updates-rarely-clipped"},
    ),
    (
        "clipped now and then",
        norms([0.5] * 28 + [3.0, 0.5], falling(), "max_grad_norm: 1.0\n"),
        {"updates-rarely-clipped"},
        {"updates-clipped-away"},
    ),
    (
        "infinite at the start, as a loss scaler leaves it",
        norms([float("inf")] * 3 + [1.0] * 27, falling()),
        set(),
        {"grad-norm-non-finite", "grad-norm-exploded"},
    ),
    ("nan to the end", norms([1.0] * 20 + [float("nan")] * 10, falling()), {"grad-norm-non-finite"}, set()),
]


@pytest.mark.parametrize(
    ("files", "must", "must_not"), [row[1:] for row in GRADIENTS], ids=[row[0] for row in GRADIENTS]
)
def test_gradients(tmp_path: Path, files: Files, must: set[str], must_not: set[str]) -> None:
    found = heard("check_gradients", tmp_path, files)
    assert must <= found
    assert not must_not & found


RATES: list[tuple[str, Files, set[str], set[str]]] = [
    (
        "raised at the break",
        table(train_loss=broken(), lr=[0.01] * 18 + [0.3] * 12),
        {"lr-raised-at-onset"},
        {"lr-unchanged-at-onset"},
    ),
    (
        "constant over the break",
        table(train_loss=broken(), lr=[0.01] * 30),
        {"lr-unchanged-at-onset"},
        {"lr-raised-at-onset"},
    ),
    (
        "lowered at the break",
        table(train_loss=broken(), lr=[0.01] * 18 + [0.001] * 12),
        {"lr-unchanged-at-onset"},
        {"lr-raised-at-onset"},
    ),
    (
        "raised long before the break",
        table(train_loss=broken(), lr=[0.01] * 8 + [0.3] * 22),
        {"lr-unchanged-at-onset"},
        {"lr-raised-at-onset"},
    ),
    (
        "a restart that the loss survives",
        table(train_loss=falling(), lr=[0.01] * 18 + [0.3] * 12),
        set(),
        {"lr-raised-at-onset"},
    ),
    (
        "a rate that climbs until the loss does",
        table(train_loss=[*falling(20), 0.9, 2.2, 4.8, 9.1], lr=np.linspace(0.001, 0.9, 24).tolist()),
        {"lr-climbing-at-onset"},
        {"lr-unchanged-at-onset", "lr-raised-at-onset"},
    ),
    (
        "a rate that stands where the loss climbs",
        table(train_loss=[*falling(20), 0.9, 2.2, 4.8, 9.1], lr=[*np.linspace(0.001, 0.01, 5), *[0.01] * 19]),
        {"lr-unchanged-at-onset"},
        {"lr-climbing-at-onset"},
    ),
    (
        "a rate that falls where the loss climbs",
        table(train_loss=[*falling(20), 0.9, 2.2, 4.8, 9.1], lr=np.linspace(0.01, 0.001, 24).tolist()),
        {"lr-unchanged-at-onset"},
        {"lr-climbing-at-onset"},
    ),
    (
        "a warm-up before a nan",
        table(train_loss=[*falling(20), *[float("nan")] * 4], lr=np.linspace(0.001, 0.01, 24).tolist()),
        {"lr-unchanged-at-onset"},
        {"lr-raised-at-onset"},
    ),
]


@pytest.mark.parametrize(("files", "must", "must_not"), [row[1:] for row in RATES], ids=[row[0] for row in RATES])
def test_rates(tmp_path: Path, files: Files, must: set[str], must_not: set[str]) -> None:
    found = heard("check_hyperparameters", tmp_path, files)
    assert must <= found
    assert not must_not & found


def log(curve: Sequence[float], said: str, before: int) -> Files:
    lines = [f"epoch {n} loss {value:.4f}" for n, value in enumerate(curve, 1)]
    return {"train.log": "\n".join([*lines[:before], said, *lines[before:]]) + "\n"}


CHANGES: list[tuple[str, Files, set[str], set[str]]] = [
    ("optimizer", log(broken(), "switching optimizer: Adam -> SGD", 18), {"optimizer-changed-at-onset"}, set()),
    ("resumed", log(broken(), "Resuming from checkpoint step 1800", 18), {"resumed-at-onset"}, set()),
    ("data", log(broken(), "entering stage 2 of the curriculum", 18), {"data-changed-at-onset"}, set()),
    ("rate", log(broken(), "set learning rate to 0.3", 18), {"lr-announced-at-onset"}, set()),
    ("elsewhere", log(broken(), "switching optimizer: Adam -> SGD", 5), set(), {"optimizer-changed-at-onset"}),
    ("unbroken", log(falling(), "switching optimizer: Adam -> SGD", 18), set(), {"optimizer-changed-at-onset"}),
    ("idle session", log(broken(), "saved a picture of the samples", 18), set(), {"data-changed-at-onset"}),
    (
        "a column",
        {
            "metrics.csv": "epoch,stage,loss\n"
            + "\n".join(f"{n},{'easy' if n <= 18 else 'hard'},{value}" for n, value in enumerate(broken(), 1))
        },
        {"data-changed-at-onset"},
        set(),
    ),
    (
        "a planned epoch",
        {**table(train_loss=broken()), "config.yaml": "epochs: 30\nunfreeze_at: 19\n"},
        {"optimizer-changed-at-onset"},
        set(),
    ),
    (
        "the same number under another name",
        {**table(train_loss=broken()), "config.yaml": "epochs: 30\nlayers: 19\n"},
        set(),
        {"optimizer-changed-at-onset", "data-changed-at-onset"},
    ),
]


@pytest.mark.parametrize(("files", "must", "must_not"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES])
def test_changes(tmp_path: Path, files: Files, must: set[str], must_not: set[str]) -> None:
    found = heard("find_changes", tmp_path, files)
    assert must <= found
    assert not must_not & found


def traceback(last: str) -> Files:
    return {
        "train.log": "epoch 1 loss 0.5\nTraceback (most recent call last):\n"
        '  File "/home/u/proj/train.py", line 2, in <module>\n    step()\n' + last + "\n",
        "train.py": "import torch\nstep()\n",
    }


ERRORS: list[tuple[str, Files, set[str], set[str]]] = [
    (
        "device memory",
        traceback("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"),
        {"error-device-memory", "run-ended-by-error"},
        {"error-unexplained"},
    ),
    (
        "another out-of-memory",
        traceback("ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory."),
        set(),
        {"error-device-memory"},
    ),
    (
        "missing file",
        traceback("FileNotFoundError: [Errno 2] No such file or directory: 'data/train.bin'"),
        {"error-missing-file"},
        {"error-shapes"},
    ),
    (
        "shapes",
        traceback("RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x128 and 64x10)"),
        {"error-shapes"},
        {"error-unexplained"},
    ),
    (
        "freed graph",
        traceback(
            "RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors)"
        ),
        {"error-state-graph"},
        {"error-shapes"},
    ),
    ("unknown", traceback("zlib.error: Error -3 while decompressing data"), set(), {"error-shapes"}),
    ("an exception of their own", traceback("proj.WidgetError: the widget is upset"), {"error-unexplained"}, set()),
    (
        "words in metrics",
        {"train.log": "\n".join(f"epoch {n} loss 0.5 error 0.1 val_error 0.2" for n in range(20))},
        set(),
        {"error-unexplained", "run-ended-by-error"},
    ),
]


@pytest.mark.parametrize(("files", "must", "must_not"), [row[1:] for row in ERRORS], ids=[row[0] for row in ERRORS])
def test_errors(tmp_path: Path, files: Files, must: set[str], must_not: set[str]) -> None:
    found = heard("explain_error", tmp_path, files)
    assert must <= found
    assert not must_not & found


LOOP = """\
import torch
rnn = torch.nn.GRU(1, 8)
h = None
for x, y in data:
    {first}
    out, h = rnn(x, h)
    loss = ((out - y) ** 2).mean()
    opt.zero_grad()
    loss.backward({arguments})
    opt.step()
    {last}
"""


def loop(first: str = "pass", last: str = "pass", arguments: str = "") -> Files:
    return {"train.py": LOOP.format(first=first, last=last, arguments=arguments)}


def cell(step: str, last: str = "pass") -> Files:
    """A loop around something that gives back one thing."""
    return {"train.py": f"for x, y in data:\n    {step}\n    loss = (h - y).mean()\n    loss.backward()\n    {last}\n"}


STATES: list[tuple[str, Files, set[str], set[str]]] = [
    ("carried", loop(), {"state-carried-undetached"}, {"state-detached", "retain-graph-used"}),
    ("detached after", loop(last="h = h.detach()"), {"state-detached"}, {"state-carried-undetached"}),
    ("detached before", loop(first="h = h.detach() if h is not None else h"), {"state-detached"}, set()),
    ("detached in place", loop(last="h.detach_()"), {"state-detached"}, {"state-carried-undetached"}),
    ("repackaged", loop(first="h = repackage(h)"), {"state-detached"}, {"state-carried-undetached"}),
    ("tuple", loop(last="h = tuple(part.detach() for part in h)"), {"state-detached"}, {"state-carried-undetached"}),
    ("thrown away", loop(last="h.detach()"), {"state-carried-undetached"}, {"state-detached"}),
    ("made from scratch", loop(first="h = torch.zeros(1, 4, 8)"), {"state-detached"}, {"state-carried-undetached"}),
    ("retained", loop(arguments="retain_graph=True"), {"retain-graph-used", "state-carried-undetached"}, set()),
    ("not retained", loop(arguments="retain_graph=False"), set(), {"retain-graph-used"}),
    ("one cell", cell("h = cell(x, h)"), {"state-carried-undetached"}, {"state-detached"}),
    ("one cell, by name", cell("h = self.cell(x, hx=h)"), {"state-carried-undetached"}, {"state-detached"}),
    ("one cell, detached", cell("h = cell(x, h.detach())", "h = h.detach()"), {"state-detached"}, set()),
    ("a block with a mask", cell("x = block(x, mask)"), set(), {"state-carried-undetached", "state-detached"}),
    ("a running maximum", cell("top = max(x, top)"), set(), {"state-carried-undetached", "state-detached"}),
    ("an average", cell("h = torch.lerp(x, h, 0.9)"), set(), {"state-carried-undetached", "state-detached"}),
    (
        "no state at all",
        {"train.py": "for x, y in data:\n    loss = net(x).sum()\n    loss.backward()\n"},
        set(),
        {"state-carried-undetached", "state-detached"},
    ),
    (
        "inside one sequence",
        {
            "train.py": "for x, y in data:\n    h = None\n    for t in range(9):\n        out, h = rnn(x[t], h)\n"
            "    loss = out.sum()\n    loss.backward()\n"
        },
        set(),
        {"state-carried-undetached"},
    ),
]


@pytest.mark.parametrize(("files", "must", "must_not"), [row[1:] for row in STATES], ids=[row[0] for row in STATES])
def test_states(tmp_path: Path, files: Files, must: set[str], must_not: set[str]) -> None:
    found = heard("check_recurrent_state", tmp_path, files)
    assert must <= found
    assert not must_not & found


def flat(value: float, points: int = 30) -> list[float]:
    return [value + 0.001 * (n % 3) for n in range(points)]


TOGETHER: list[tuple[str, Files, set[str], set[str]]] = [
    ("idle latent", table(recon_loss=falling(), kl=flat(0.002)), {"kl-near-zero"}, set()),
    ("busy latent", table(recon_loss=falling(), kl=flat(12.0)), set(), {"kl-near-zero"}),
    (
        "a learning rate is no kl",
        table(loss=falling(), ce=falling(), learning_rate=flat(0.0002)),
        set(),
        {"kl-near-zero"},
    ),
    ("a policy's kl is meant to be small", table(loss=falling(), approx_kl=flat(0.002)), set(), {"kl-near-zero"}),
    (
        "discriminator wins",
        table(d_loss=np.geomspace(1.4, 0.01, 30).tolist(), g_loss=np.linspace(0.8, 9.0, 30).tolist()),
        {"discriminator-wins"},
        set(),
    ),
    ("a balanced game", table(d_loss=flat(1.38), g_loss=flat(0.7)), set(), {"discriminator-wins"}),
    (
        "forgotten task",
        table(val_old_acc=np.linspace(0.9, 0.3, 30).tolist(), val_new_acc=np.linspace(0.2, 0.9, 30).tolist()),
        {"older-task-forgotten"},
        set(),
    ),
    (
        "both tasks improve",
        table(val_old_acc=np.linspace(0.5, 0.9, 30).tolist(), val_new_acc=np.linspace(0.2, 0.9, 30).tolist()),
        set(),
        {"older-task-forgotten"},
    ),
    (
        "scale at its floor",
        table(train_loss=falling(), loss_scale=[65536 / 2**n for n in range(30)]),
        {"loss-scale-at-floor"},
        set(),
    ),
    (
        "a scale that settles",
        table(train_loss=falling(), loss_scale=[65536.0, 32768.0, *[16384.0] * 28]),
        set(),
        {"loss-scale-at-floor"},
    ),
]


@pytest.mark.parametrize(("files", "must", "must_not"), [row[1:] for row in TOGETHER], ids=[row[0] for row in TOGETHER])
def test_curves_together(tmp_path: Path, files: Files, must: set[str], must_not: set[str]) -> None:
    found = heard("compare_metrics", tmp_path, files)
    assert must <= found
    assert not must_not & found


def configured(text: str, **columns: Sequence[float]) -> Files:
    return {**table(**(columns or {"train_loss": falling()})), "config.yaml": text}


SETTINGS: list[tuple[str, Files, set[str], set[str]]] = [
    (
        "rate at zero for half the run",
        table(train_loss=falling(), lr=[0.01] * 15 + [0.0] * 15),
        {"lr-zero-before-end"},
        set(),
    ),
    (
        "a cosine to zero",
        table(train_loss=falling(), lr=(0.01 * (1 + np.cos(np.linspace(0, np.pi, 30))) / 2).tolist()),
        set(),
        {"lr-zero-before-end"},
    ),
    ("tiny rate", configured("optimizer: sgd\nlr: 1.0e-7\n"), {"lr-far-below-usual"}, {"lr-far-above-usual"}),
    ("huge rate", configured("optimizer: adam\nlr: 0.5\n"), {"lr-far-above-usual"}, {"lr-far-below-usual"}),
    ("usual rate", configured("optimizer: adam\nlr: 0.001\n"), set(), {"lr-far-above-usual", "lr-far-below-usual"}),
    ("heavy decay", configured("lr: 0.01\nweight_decay: 1.0\n"), {"regularised-heavily"}, set()),
    ("usual decay", configured("lr: 0.01\nweight_decay: 0.1\ndropout: 0.5\n"), set(), {"regularised-heavily"}),
    ("tiny batch", configured("lr: 0.01\nbatch_size: 2\n"), {"batch-tiny"}, set()),
    ("usual batch", configured("lr: 0.01\nbatch_size: 32\n"), set(), {"batch-tiny"}),
    ("fp16", configured("lr: 0.01\nfp16: true\n"), {"half-precision"}, set()),
    ("bf16", configured("lr: 0.01\nbf16: true\nfp16: false\n"), set(), {"half-precision"}),
    ("no warm-up", table(train_loss=falling(), lr=np.linspace(0.01, 0.001, 30).tolist()), {"no-warmup"}, set()),
    (
        "warm-up",
        table(train_loss=falling(), lr=[0.001, 0.005, *np.linspace(0.01, 0.001, 28)]),
        set(),
        {"no-warmup"},
    ),
]


@pytest.mark.parametrize(("files", "must", "must_not"), [row[1:] for row in SETTINGS], ids=[row[0] for row in SETTINGS])
def test_settings(tmp_path: Path, files: Files, must: set[str], must_not: set[str]) -> None:
    found = heard("check_hyperparameters", tmp_path, files)
    assert must <= found
    assert not must_not & found


def restless(points: int = 60) -> list[float]:
    return [1.0 + (0.8 if n % 2 else -0.5) for n in range(points)]


MORE_CURVES: list[tuple[str, Files, set[str], set[str]]] = [
    (
        "a start far above chance",
        configured("num_classes: 10\n", train_loss=[19.0, *falling(29)]),
        {"loss-starts-far-above-chance"},
        set(),
    ),
    ("a start at chance", configured("num_classes: 10\n"), set(), {"loss-starts-far-above-chance"}),
    (
        "shoots up early",
        table(train_loss=[2.0, 5.0, 8.0, 6.0, *falling(56)]),
        {"loss-unstable-early"},
        {"loss-oscillates"},
    ),
    (
        "shoots up early, and every tenth point after",
        table(train_loss=[2.0, 5.0, 8.0, 6.0, *(8.5 if n % 10 == 9 else row for n, row in enumerate(falling(56)))]),
        set(),
        {"loss-unstable-early"},
    ),
    ("swings", table(train_loss=restless()), {"loss-oscillates"}, {"loss-unstable-early"}),
    ("noise on a falling curve", table(train_loss=falling(60, noise=0.1)), set(), {"loss-oscillates"}),
    ("crawls", table(train_loss=np.linspace(3.0, 2.7, 60).tolist()), {"loss-fell-slowly"}, set()),
    ("runs", table(train_loss=np.linspace(3.0, 0.5, 60).tolist()), set(), {"loss-fell-slowly"}),
]


@pytest.mark.parametrize(
    ("files", "must", "must_not"), [row[1:] for row in MORE_CURVES], ids=[row[0] for row in MORE_CURVES]
)
def test_more_loss_curves(tmp_path: Path, files: Files, must: set[str], must_not: set[str]) -> None:
    found = heard("analyze_loss_curve", tmp_path, files)
    assert must <= found
    assert not must_not & found
