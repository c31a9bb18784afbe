"""An error is cited with the line behind it: what it names, what sets it, the package that raised it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.calling import call, load
from tests.tools.signal_case import losses
from traindx.readers import Run, Scope

_FRAMES = 'Traceback (most recent call last):\n  File "/home/u/proj/train.py", line 1, in <module>\n    main()\n'
_PROTOBUF = (
    "Traceback (most recent call last):\n"
    '  File "/usr/lib/python3/dist-packages/google/protobuf/descriptor.py", line 561, in __new__\n    x()\n'
)
_SBATCH = (
    "#!/bin/bash\n#SBATCH --gres=gpu:4\n#SBATCH --mem=240G\n#SBATCH --time=24:00:00\n"
    "srun torchrun --rdzv_endpoint=$(hostname):29500 t.py\n"
)
_UNUSED = "RuntimeError: It looks like your LightningModule has parameters that were not used in producing the loss"
_MODULE = (
    "import lightning as L\nfrom torch import nn\n\n\nclass Net(L.LightningModule):\n    def __init__(self):\n"
    "        super().__init__()\n        self.head = nn.Linear(8, 8)\n        self.spare = nn.Linear(8, 8)\n\n"
    "    def training_step(self, batch, _):\n        return self.head(batch).mean()\n"
)
# name, the last lines of the log, other files, the place that must be cited (or must not, with a `!`)
PLACES: list[tuple[str, str, dict[str, str], str]] = [
    ("a name in a configuration", _FRAMES + "KeyError: 'FocalNet is not in the mmdet::model registry.'",
     {"configs/net.yaml": "depth: 3\nbackbone: FocalNet\n"}, "configs/net.yaml:2"),
    ("a text of the program", _FRAMES + "ValueError: unknown split `holdout_b`",
     {"data.py": "def load():\n    return read('holdout_b')\n"}, "data.py:2"),
    ("a word that stands everywhere", _FRAMES + "ValueError: unknown split `holdout_b`",
     {"a.yaml": "holdout_b: 1\n" * 9}, "!a.yaml:1"),
    ("a lambda that cannot be pickled",
     _FRAMES + "AttributeError: Can't pickle local object 'build.<locals>.<lambda>'",
     {"train.py": "def build(root):\n    return Loader(root, lambda s: s / 255.0)\n"}, "train.py:2"),
    ("the memory that a job asks for", "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0",
     {"job.sh": _SBATCH}, "job.sh:3"),
    ("the time that a job asks for",
     "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-01-01T00:00:00 DUE TO TIME LIMIT ***",
     {"job.sh": _SBATCH}, "job.sh:4"),
    ("where the nodes are to meet", _FRAMES + "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError",
     {"job.sbatch": _SBATCH}, "job.sbatch:5"),
    ("a container without shared memory",
     "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
     {"run.sh": "set -e\ndocker run --gpus all img python train.py\n"}, "run.sh:2"),
    ("the package that raised", _PROTOBUF + "TypeError: Descriptors cannot not be created directly.",
     {"requirements.txt": "torch==1.12.1\nprotobuf\n"}, "requirements.txt:2"),
    ("a batch that does not fit", _FRAMES + "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB",
     {"cfg.yaml": "lr: 0.1\nbatch_size: 512\n"}, "cfg.yaml:2"),
    ("a layer that nothing uses",
     _FRAMES + _UNUSED,
     {"net.py": _MODULE}, "net.py:9"),
    ("a layer that is used",
     _FRAMES + _UNUSED,
     {"net.py": _MODULE}, "!net.py:8"),
    ("a value inside a path",
     _FRAMES + "FileNotFoundError: [Errno 2] No such file or directory: '/mnt/daily/dt=2024-02-30/features.npz'",
     {"days.json": '[\n"2024-02-29",\n"2024-02-30"\n]\n'}, "days.json:3"),
    ("rows that are made anew",
     _FRAMES + "ValueError: Expected input batch_size (64) to match target batch_size (32).",
     {"train.py": "import torch\n\ndef f(ids):\n    return ids.reshape(-1, 128)\n\nf(torch.ones(2, 2)).backward()\n"},
     "train.py:4"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "files", "place"), [row[1:] for row in PLACES], ids=[row[0] for row in PLACES])
def test_the_line_behind_an_error_is_cited(lines: str, files: dict[str, str], place: str, tmp_path: Path) -> None:
    for name, content in {"train.log": "\n".join([*losses(3), lines]) + "\n", **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    report = call(load("explain_error"), Run(Scope.of(tmp_path)))
    places = [one for signal in report.signals for one in signal.citations]
    cited = {f"{one.source}:{one.locator.removeprefix('line ')}" for one in places}
    assert (place.removeprefix("!") in cited) is not place.startswith("!"), sorted(cited)
