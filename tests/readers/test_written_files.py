"""Files that a program writes itself are records; those that it reads, or never names, are not."""

import ast

import pytest

from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.written import written_by


def unit(text: str) -> CodeUnit:
    return CodeUnit("train.py", ast.parse(text), frozenset(), frozenset(), text=text)


@pytest.mark.parametrize(
    "text",
    [
        'json.dump(cfg, open("config.json", "w"))',
        'with open("out/config.json", mode="wt") as f:\n    f.write(text)',
        'Path("run", "config.json").write_text(text)',
        'with (folder / "config.json").open("w") as f:\n    f.write(text)',
        'with open(f"{out}/config.json", "w") as f:\n    f.write(text)',
        'args.save("config.json")',
    ],
)
def test_a_file_that_is_written_is_a_record(text: str) -> None:
    assert "config.json" in {name.rpartition("/")[2] for name in written_by([unit(text)])}


@pytest.mark.parametrize(
    "text",
    [
        'cfg = json.load(open("config.json"))',
        'cfg = json.load(open("config.json"))\njson.dump(cfg, open("config.json", "w"))',
        'with open("config.json", "rb") as f:\n    cfg = f.read()',
        'cfg = OmegaConf.load("config.json")\nOmegaConf.save(cfg, "config.json")',
        'print("config.json")',
    ],
)
def test_a_file_that_is_read_is_none(text: str) -> None:
    assert "config.json" not in written_by([unit(text)])
