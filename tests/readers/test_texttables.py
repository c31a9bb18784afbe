"""Tables drawn into logs, ranks that interleave, runs that are resumed: what stands on several lines."""

from __future__ import annotations

import io

import pytest

from traindx.readers.logs.textlog import read_log
from traindx.readers.model import Series


def _read(text: str) -> dict[str, Series]:
    return {series.original: series for series in read_log(io.BytesIO(text.encode()), "train.log")[0]}


def _box(steps: int, reward: float, loss: float) -> str:
    rule = "-" * 34
    return (
        f"{rule}\n| rollout/           |          |\n|    ep_rew_mean     | {reward:<8} |\n"
        f"| time/              |          |\n|    total_timesteps | {steps:<8} |\n"
        f"| train/             |          |\n|    loss            | {loss:<8} |\n{rule}\n"
    )


@pytest.mark.parametrize("boxes", [2, 2_000])
def test_boxes_of_stable_baselines(boxes: int) -> None:
    found = _read("Using cpu device\n" + "".join(_box(2048 * n, n / 2, n / 4) for n in range(1, boxes + 1)))
    reward = found["rollout/ep_rew_mean"]
    assert (reward.axis, reward.at[:2].tolist(), reward.values[:2].tolist()) == ("step", [2048, 4096], [0.5, 1.0])
    assert (len(reward), reward.lines[:2].tolist(), reward.texts[0]) == (boxes, [4, 12], "0.5")
    assert found["train/loss"].name == "train/loss"


def test_tables_of_ultralytics() -> None:
    log = "".join(
        "      Epoch    GPU_mem   box_loss   cls_loss  Instances       Size\n"
        f"        {n}/3      2.1G      1.{n}      2.3        12        640: 100%|####| 4/4 [00:01<00:00,  3.1it/s]\n"
        "                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|###| 2/2\n"
        f"                   all          4         17      0.6      0.5      0.6{n}      0.44\n\n"
        for n in (1, 2, 3)
    )
    found = _read(log)
    assert (found["box_loss"].axis, found["box_loss"].at.tolist()) == ("epoch", [1, 2, 3])
    assert found["box_loss"].values.tolist() == [1.1, 1.2, 1.3]
    assert (found["val/mAP50"].at.tolist(), found["val/mAP50"].lines.tolist()) == ([1, 2, 3], [4, 9, 14])


def test_rows_under_a_row_of_names() -> None:
    found = _read(
        "epoch     train_loss  valid_loss  time\n0         2.3         1.9         00:12\n1  1.3  0.9  00:12\n"
    )
    assert found["valid_loss"].name == "val/loss"
    assert (found["valid_loss"].at.tolist(), found["valid_loss"].values.tolist()) == ([0, 1], [1.9, 0.9])


def test_each_rank_keeps_its_own_series() -> None:
    found = _read("".join(f"[rank{r}]: step {n} loss {n}.{r}\n" for n in range(1, 4) for r in (0, 1)))
    assert (found["loss"].values.tolist(), found["loss"].at.tolist()) == ([1.0, 2.0, 3.0], [1, 2, 3])
    assert (found["rank1:loss"].name, found["rank1:loss"].values.tolist()) == ("train/loss", [1.1, 2.1, 3.1])


def test_a_single_rank_needs_no_name() -> None:
    assert list(_read("[rank3]: step 1 loss 2.0\n[rank3]: step 2 loss 1.0\n")) == ["loss"]


def test_a_run_that_was_resumed_and_one_that_was_appended() -> None:
    steps = [1, 2, 3, 4, 3, 4, 5, 1, 2]
    series = _read("".join(f"step {n} loss 0.5\n" for n in steps))["loss"]
    assert (series.at.tolist(), series.restarts) == (steps, (4, 7))


def test_units_cling_to_their_numbers() -> None:
    found = _read("iter 1: loss 2.0, time 130.5ms, mfu 40.1%\n" * 2)
    assert [(name, series.unit) for name, series in found.items()] == [("loss", ""), ("time", "ms"), ("mfu", "%")]


@pytest.mark.parametrize(
    "line",
    [
        "epoch 3 loss: tensor(0.38, device='cuda:0', grad_fn=<NllLossBackward0>)",
        "tensor(0.38, grad_fn=<MseLossBackward0>)",
        "loss tensor(0.38, device='cuda:1')",
    ],
)
def test_printed_tensors(line: str) -> None:
    found = _read(f"{line}\n{line}\n")
    assert {name: series.values.tolist() for name, series in found.items()} == {"loss": [0.38, 0.38]}


def test_phases_of_mmengine_and_updates_of_fairseq() -> None:
    mmengine = "2026/01/02 03:04:05 - mmengine - INFO - Epoch(train)  [{e}][ {s}/100]  lr: 1.0e-03  loss: 1.5\n"
    found = _read("".join(mmengine.format(e=e, s=s) for e in (1, 2) for s in (50, 75)))
    assert (found["loss"].axis, found["loss"].at.tolist()) == ("epoch", [1.5, 1.75, 2.5, 2.75])
    fairseq = (
        '2026-01-02 03:04:05 | INFO | train_inner | {"epoch": 1, "update": 0.5, "loss": "9.1", "num_updates": "100"}\n'
    )
    assert _read(fairseq)["train_inner:loss"].at.tolist() == [100]


def test_a_table_of_single_blanks_below_other_lines() -> None:
    rows = "".join(f"{n}     1.{n}74373    1.5{n}4625    0.26{n}500  00:03\n" for n in range(5))
    found = _read(f"learn.fit(24, 1e-3)\n\nepoch train_loss  valid_loss  accuracy  time\n{rows}")
    assert found["train_loss"].values.tolist() == [1.074373, 1.174373, 1.274373, 1.374373, 1.474373]
    assert found["train_loss"].at.tolist() == [0, 1, 2, 3, 4]
    assert found["accuracy"].lines.tolist() == [4, 5, 6, 7, 8]
