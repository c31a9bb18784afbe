"""Of a large repository only the program that ran is judged; a small folder is one program."""

from __future__ import annotations

from pathlib import Path

from traindx.readers.code.program import FEW
from traindx.readers.run import Run
from traindx.runtime.scope import Scope

LOOP = "from torch import optim\n{imports}\n\ndef main():\n    for x, y in data:\n        loss = net(x).sum()\n" \
    "        loss.backward()\n        optimizer.step()\n\n\nif __name__ == '__main__':\n    main()\n"  # fmt: skip


def repository(folder: Path, files: dict[str, str], others: int = FEW + 10) -> Run:
    for number in range(others):
        place = folder / "lib" / f"part_{number}.py"
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"import torch\n\n\ndef part_{number}(x):\n    return torch.log(x)\n")
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Run(Scope(folder))


def paths(run: Run) -> set[str]:
    return {unit.path for unit in run.program}


def test_the_entry_point_and_what_it_imports_are_the_program(tmp_path: Path) -> None:
    files = {
        "train.py": LOOP.format(imports="from nets.small import Net"),
        "nets/small.py": "import torch\nfrom nets.layers import Layer\n\n\nclass Net(torch.nn.Module):\n    pass\n",
        "nets/layers.py": "import torch\n\n\nclass Layer(torch.nn.Module):\n    pass\n",
        "tools/old/train_other.py": LOOP.format(imports="import lib.part_1"),
    }
    assert paths(repository(tmp_path, files)) == {"train.py", "nets/small.py", "nets/layers.py"}


def test_what_the_configuration_builds_belongs_to_it(tmp_path: Path) -> None:
    files = {
        "train.py": LOOP.format(imports="import hydra"),
        "conf/config.yaml": "model:\n  _target_: nets.big.Net\nlr: 0.1\n",
        "nets/big.py": "import torch\n\n\nclass Net(torch.nn.Module):\n    pass\n",
    }
    assert paths(repository(tmp_path, files)) == {"train.py", "nets/big.py"}


def test_a_traceback_says_which_of_several_entry_points_ran(tmp_path: Path) -> None:
    failed = 'Traceback (most recent call last):\n  File "/w/jobs/fit.py", line 6, in main\nValueError: no\n'
    files = {
        "train.py": LOOP.format(imports="import lib.part_1"),
        "jobs/fit.py": LOOP.format(imports="import lib.part_2"),
        "job.log": failed,
    }
    assert paths(repository(tmp_path, files)) == {"jobs/fit.py", "lib/part_2.py"}


def test_without_an_entry_point_everything_counts(tmp_path: Path) -> None:
    run = repository(tmp_path, {})
    assert len(run.program) == len(run.code) == FEW + 10


def test_a_small_folder_is_one_program(tmp_path: Path) -> None:
    run = repository(tmp_path, {"train.py": LOOP.format(imports="import os")}, others=5)
    assert len(run.program) == 6
