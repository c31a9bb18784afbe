"""Parameters by kind and module: from a checkpoint, and from code where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.extras import torch
from tests.tools.calling import call, load
from tests.tools.signal_case import case, check
from traindx.readers import Run, Scope
from traindx.runtime import NoData

CODE = """\
import torch
from torch import nn

hidden = 64


class Net(nn.Module):
    def __init__(self, vocab_size=500):
        super().__init__()
        self.embed = nn.Embedding(1000, hidden)
        self.rnn = nn.LSTM(hidden, hidden)
        self.head = nn.Linear(2 * hidden, 10)
        self.unknown = nn.Linear(make_size(), 10)
"""


def counted(folder: Path, tool: str = "count_parameters") -> Any:
    return call(load(tool), Run(Scope.of(folder)))


def test_a_checkpoint_is_counted_as_torch_counts(tmp_path: Path) -> None:
    class Model(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.embed = torch.nn.Embedding(100, 8)
            self.body = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8))
            self.head = torch.nn.Linear(8, 100, bias=False)
            self.head.weight = self.embed.weight

    model = Model()
    torch.save({"model": model.state_dict()}, tmp_path / "model.pt")
    output = counted(tmp_path)
    assert output.total == sum(one.numel() for one in model.parameters())
    assert output.by_module == {"embed": 800, "body.0": 72, "body.1": 16, "head": 0}
    assert output.tied == {"head.weight": "embed.weight"}
    assert output.chart.splitlines()[0].startswith("embed ")


def test_code_is_counted_where_sizes_can_be_read_off(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(CODE)
    output = counted(tmp_path)
    assert (output.source, output.by_kind["embedding"]) == ("code", 64_000)
    assert output.by_kind["recurrent"] == 4 * 64 * 64 * 2 + 8 * 64
    assert output.total == 64_000 + 33_280 + 1_290
    assert counted(tmp_path, "analyze_architecture").signals == [], "loops are counted once: no word about shares"


def test_without_a_model_there_is_nothing_to_count(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("epoch 1 loss 2\n")
    with pytest.raises(NoData):
        counted(tmp_path)


@pytest.mark.parametrize(
    ("rows", "width", "fires"),
    [(5_000, 16, "embedding-dominates"), (100, 64, "parameters-balanced")],
)
def test_the_share_of_an_embedding(tmp_path: Path, rows: int, width: int, fires: str) -> None:
    model = {"tok_emb.weight": torch.randn(rows, width)}
    model |= {f"blocks.{n}.attn.qkv.weight": torch.randn(3 * width, width) for n in range(2)}
    torch.save(model, tmp_path / "model.pt")
    silent = ({"embedding-dominates", "parameters-balanced"} - {fires}).pop()
    check(case("analyze_architecture", "share", {}, fires, silent), tmp_path)


def test_a_table_without_layers_over_a_sequence_is_what_it_is(tmp_path: Path) -> None:
    torch.save({"users.embedding.weight": torch.randn(9_000, 16), "out.weight": torch.randn(1, 32)}, tmp_path / "m.pt")
    assert counted(tmp_path, "analyze_architecture").signals == []


def test_bottlenecks_are_named(tmp_path: Path) -> None:
    sizes = [(256, 512), (4, 256), (256, 4), (512, 256)]
    torch.save({f"layers.{n}.weight": torch.randn(size) for n, size in enumerate(sizes)}, tmp_path / "m.pt")
    (found,) = counted(tmp_path, "analyze_architecture").bottlenecks
    assert (found.layer, found.width, found.before, found.after) == ("layers.1.weight", 4, 256, 256)
