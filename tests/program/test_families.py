"""Which files belong together, and how programs are shared out."""

from __future__ import annotations

from pathlib import Path

from traindx.program.families import programs, relatives, shared_out
from traindx.readers import Run, Scope
from traindx.readers.code.codeunit import CodeUnit

STARTS = 'if __name__ == "__main__":\n    main()\n'


def _units(folder: Path, files: dict[str, str]) -> list[CodeUnit]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Run(Scope.of(folder)).code


FILES = {
    "a/model.py": "class Net: pass\n",
    "a/train.py": f"from model import Net\n{STARTS}",
    "a/finetune.py": f"from model import Net\n{STARTS}",
    "b/train.py": STARTS,
    "c/loose.py": "def helper(): pass\n",
}


def test_programs_that_share_a_file_belong_together(tmp_path: Path) -> None:
    known = relatives(_units(tmp_path, FILES))
    assert [unit.path for unit in known["a/train.py"]] == ["a/finetune.py", "a/model.py", "a/train.py"]
    assert known["a/finetune.py"] == known["a/train.py"] == known["a/model.py"]
    assert [unit.path for unit in known["b/train.py"]] == ["b/train.py"]


def test_every_program_is_in_one_share_and_no_file_in_two(tmp_path: Path) -> None:
    units = _units(tmp_path, FILES)
    shares = shared_out(units, 2)
    assert sorted(p[0].path for share in shares for p in share) == sorted(p[0].path for p in programs(units))
    one, other = ({unit.path for program in share for unit in program} for share in shares)
    assert one
    assert other
    assert not one & other
    assert shared_out(units, 1) == [programs(units)]
