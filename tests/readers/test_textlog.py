"""Text logs: every common way to print a metric gives the same series, with lines an editor would show."""

from __future__ import annotations

import io

import numpy as np
import pytest

from traindx.readers.logs.textlog import read_log
from traindx.readers.model import Series


def _read(text: str | bytes) -> list[Series]:
    raw = text.encode() if isinstance(text, str) else text
    return read_log(io.BytesIO(raw), "train.log")[0]


def _one(text: str | bytes, name: str = "train/loss") -> Series:
    (series,) = [series for series in _read(text) if series.name == name]
    return series


@pytest.mark.parametrize(
    ("line", "axis"),
    [
        ("epoch {n} loss {v}", "epoch"),
        ("Epoch {n}/20 - loss: {v} - time: 3s", "epoch"),
        ("[epoch {n}] loss={v}", "epoch"),
        ("Epoch: {n} | Loss: {v}", "epoch"),
        ("epoch 01 step {n:04d} loss {v}", "step"),
        ("iter {n}: loss {v}", "step"),
        ("step:{n}/500 train_loss:{v} step_avg:12.5ms", "step"),
        ("{{'loss': '{v}', 'learning_rate': '1e-3', 'epoch': '{n}'}}", "epoch"),
        ('{{"step": {n}, "loss": {v}}}', "step"),
        ("2026-01-02 03:04:05,678 [INFO] trainer: step {n} loss {v}", "step"),
        ("[2026-01-02 03:04:05] [rank0]: iteration {n}, loss: {v}", "step"),
        ("\x1b[32mINFO\x1b[0m step {n} | loss \x1b[1m{v}\x1b[0m", "step"),
        ("{n}/500 train_loss: {v}", "step"),
        ("ep{n}/20 loss={v} psnr=12.1dB", "epoch"),
        ("e0 s{n} loss {v} (avg 0.61) gn 3.1", "step"),
        ("[E{n}] loss {v}", "epoch"),
        ("t={n} loss={v}", "step"),
        ("[06:20:58] upd {n} | loss {v} | lr 4.0e-3", "step"),
        ("第 {n} 轮  训练损失 {v}  验证RMSE 0.99  用时 0.1 秒", "epoch"),
        ("第{n}轮\uff0c训练损失\uff1a{v}\uff0c验证损失\uff1a0.5", "epoch"),
        ("第{n}/20轮 训练损失={v} 准确率=35%", "epoch"),
        ("第 {n} 个 epoch\uff0c平均损失 {v}", "epoch"),
        ("第 {n} 次迭代 损失 {v}", "step"),
        ("【训练】轮次\uff1a{n}\uff5c损失\uff1a{v}\uff5c学习率\uff1a1e-3", "epoch"),
        ("迭代 {n} 损失 {v} 梯度范数 3.1", "step"),
        ("批次 {n}/100 损失: {v}", "step"),
        ("エポック {n} 損失 {v} 検証損失 0.9", "epoch"),
        ("第{n}エポック 学習損失: {v}", "epoch"),
        ("에폭 {n} 손실 {v} 검증손실 0.9 정확도 0.3", "epoch"),
    ],
)
def test_common_ways_to_print_a_loss(line: str, axis: str) -> None:
    values = [2.5, 1.25, 0.125]
    series = _one("hello\n" + "".join(line.format(n=n, v=v) + "\n" for n, v in enumerate(values, 1)))
    assert series.axis == axis
    assert series.at.tolist() == [1, 2, 3]
    assert series.values.tolist() == values
    assert series.lines.tolist() == [2, 3, 4]
    assert series.texts == ("2.5", "1.25", "0.125")


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("Epoch [{e}/9], Step [{s}/100], Loss: {v}", ("epoch", [1.25, 1.5, 2.25])),
        ("Epoch [{e}][{s}/100]\tlr: 1.000e-03, eta: 0:10:00, time: 0.200, loss: {v}", ("epoch", [1.25, 1.5, 2.25])),
        ("[{e}/9][{s}/100] Loss: {v} D(x): 0.5 D(G(z)): 0.4 / 0.1", ("epoch", [1.25, 1.5, 2.25])),
        ("Train: {e} [  {s}/100 (  4%)]  Loss: {v} (6.93)  LR: 1.0e-06", ("epoch", [1.25, 1.5, 2.25])),
        ("epoch 00{e}:  {s} / 100 loss={v}, ppl=17.1, num_updates={g}, lr=0.0005, gnorm=1.2", ("step", [25, 50, 125])),
        (" iteration   {g}/ 5000 | elapsed time (ms): 12.5 | lm loss: {v} | grad norm: 3.2 |", ("step", [25, 50, 125])),
        ("[{g}]\tloss:{v}\tvalid-rmse:0.6", ("step", [25, 50, 125])),
        (" 33%|##  | {g}/300 [00:10<00:20, 10.0it/s]{{'loss': {v}, 'epoch': {e}}}", ("epoch", [1, 1, 2])),
        ("Step {g}/1000; acc:   3.21; loss: {v}; lr: 0.1; 1234/2345 tok/s;   20 sec", ("step", [25, 50, 125])),
    ],
    ids=["tutorial", "mmcv", "dcgan", "timm", "fairseq", "megatron", "xgboost", "hf-after-bar", "opennmt"],
)
def test_the_ways_of_well_known_trainers(form: str, expected: tuple[str, list[float]]) -> None:
    points = [(1, 25, 25, 2.5), (1, 50, 50, 1.5), (2, 25, 125, 0.5)]
    series = _one("".join(form.format(e=e, s=s, g=g, v=v) + "\n" for e, s, g, v in points))
    assert (series.axis, series.at.tolist()) == expected
    assert series.values.tolist() == [2.5, 1.5, 0.5]


def test_numbers_in_all_their_spellings() -> None:
    texts = ["1.5e-03", "nan", "-inf", "1,234.5", "12", ".5", "NaN", "-0.25", "3."]
    series = _one("\n".join(f"step {n} loss {text}" for n, text in enumerate(texts)))
    assert series.texts == tuple(texts)
    expected = [0.0015, np.nan, -np.inf, 1234.5, 12.0, 0.5, np.nan, -0.25, 3.0]
    np.testing.assert_array_equal(series.values, expected)


def test_steps_and_epochs_of_one_log_are_two_series() -> None:
    log = "".join(
        f"epoch {e} step {10 * e + s} loss {e + s / 10}\n"
        + (f"epoch {e} done: train_loss {e} val_loss {2 * e}\n" * (s == 2))
        for e in (1, 2)
        for s in (1, 2)
    )
    losses = [series for series in _read(log) if series.name == "train/loss"]
    assert [(series.axis, series.at.tolist()) for series in losses] == [("step", [11, 12, 21, 22]), ("epoch", [1, 2])]
    assert _one(log, "val/loss").values.tolist() == [2, 4]


def test_steps_that_start_again_with_each_epoch_become_parts_of_it() -> None:
    log = "".join(f"Train Epoch: {e} [{k}/100 ({k}%)]\tLoss: 0.5\n" for e in (1, 2) for k in (0, 50))
    series = _one(log)
    assert (series.axis, series.at.tolist()) == ("epoch", [1.0, 1.5, 2.0, 2.5])


def test_a_line_without_a_counter_belongs_to_where_the_log_is() -> None:
    log = "".join(
        f"Train Epoch: {e} Loss: 1.0\n\nTest set: Average loss: {e}.5, Accuracy: 9{e}/100 (9{e}%)\n" for e in (1, 2)
    )
    series = _one(log, "test/loss")
    assert (series.axis, series.at.tolist(), series.values.tolist()) == ("epoch", [1, 2], [1.5, 2.5])
    accuracy = _one(log, "test/accuracy")
    assert (accuracy.values.tolist(), accuracy.texts) == ([0.91, 0.92], ("91/100", "92/100"))


def test_progress_bars_keep_the_line_numbers_of_an_editor() -> None:
    bar = "".join(f"\rEpoch 1: {k}%|##  | {k}/100 [00:01<00:02, 9.1it/s, loss={1 / k:.3f}]" for k in (10, 20, 30))
    series = _one(f"start\n{bar}\nEpoch 2: 10%|#  | 10/100 [00:01<00:02, 9.1it/s, loss=0.020]\n")
    assert series.lines.tolist() == [2, 2, 2, 3]
    assert series.texts == ("0.100", "0.050", "0.033", "0.020")


def test_keras_bars_drawn_with_backspaces() -> None:
    log = (
        "Epoch 1/2\n"
        + "\b" * 40
        + "10/50 [==>...] - loss: 2.0"
        + "\b" * 40
        + "50/50 [=====] - loss: 1.0 - val_loss: 1.5\n"
    )
    log += "Epoch 2/2\n50/50 [=====] - 3s 2ms/step - loss: 0.5 - val_loss: 0.75\n"
    series = _one(log, "val/loss")
    assert (series.axis, series.at.tolist(), series.values.tolist()) == ("epoch", [1, 2], [1.5, 0.75])


def test_phases_said_as_words_and_bare_phases() -> None:
    assert _one("epoch 1 train loss 0.5 acc 0.8 val loss 0.4 acc 0.7\n", "val/accuracy").values.tolist() == [0.7]
    assert _one("step 64 train 0.18 val 0.17\n", "val/loss").values.tolist() == [0.17]
    assert _one("epoch 0 mse 0.5 held-out 0.6\n", "val/mse").values.tolist() == [0.6]


def test_prose_and_settings_are_no_metrics() -> None:
    log = "loaded 6000 images in 3.5 s\nNamespace(lr=0.1, epochs=10)\nlearning_rate: 3e-4\nwarmup_step:1/20\n"
    assert _read(log + "vocab 64, 110336 parameters\n") == []


def test_a_checkpoint_message_does_not_bend_the_loss() -> None:
    log = "Epoch 1: loss 0.5\nEpoch 1: val_loss improved from 0.9 to 0.7, saving model\nEpoch 2: loss 0.4\n"
    assert _one(log).values.tolist() == [0.5, 0.4]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_other_encodings(encoding: str) -> None:
    assert _one("epoch 1 loss 2.5\nepoch 2 loss 1.5\n".encode(encoding)).values.tolist() == [2.5, 1.5]


def test_a_tail_of_nuls_is_what_a_crash_leaves() -> None:
    assert _one(b"epoch 1 loss 2.5\nepoch 2 loss 1.5\n" + b"\0" * 4096).values.tolist() == [2.5, 1.5]


def test_long_series_give_up_their_spelling_not_their_points() -> None:
    series = _one("".join(f"step {n} loss 0.5\n" for n in range(200_001)))
    assert (len(series), series.texts) == (200_001, ())


def test_a_name_with_digits_is_no_counter() -> None:
    found = _read("".join(f"model s3 layer e5 loss 0.{n}\n" for n in range(1, 9)))
    assert [(row.name, row.axis) for row in found] == [("train/loss", "row")]


def test_phases_alone_are_a_loss_when_there_are_two() -> None:
    found = _read("".join(f"Completed {n}. train={-2 - n / 10:.2f} heldout={-1 - n / 10:.2f}\n" for n in range(9)))
    assert {"train/loss", "val/loss"} <= {row.name for row in found}


def test_a_table_with_bars_between_its_columns() -> None:
    head = "epoch |   total |   recon |      l1 | |code| | val_recon\n"
    rows = "".join(f"    {n} |  2.{n} |  1.{n} |  0.{n} | 0.06 | 0.9{n}\n" for n in range(1, 8))
    found = {row.name: row for row in _read(head + rows)}
    assert found["train/recon"].values.tolist() == [1 + n / 10 for n in range(1, 8)]
    assert found["val/recon"].axis == "epoch"


def test_bars_between_names_with_values_are_no_table() -> None:
    text = "".join(f"step {n} | loss 0.{n} | lr 0.1\n" for n in range(1, 9))
    assert _one(text).values.tolist() == [n / 10 for n in range(1, 9)]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("ep {n} | BCE(train)={v} | BCE(test)=0.7", "train/bce"),
        ("ep {n} | BCE(train)=0.7 | BCE(test)={v}", "test/bce"),
        ("[Train][Epoch {n}/9][Iter: 0/50]lr(Piecewise): {v}, loss: 0.5", "lr"),
        ("step {n} mse 0.5 inactive(fc2) {v}", "inactive_fc2"),
        ("epoch {n} | mse 0.5 | inactive units l1 {v}% l2 3%", "inactive_units_l1"),
        (" validation loss at iteration {n} | lm loss value: {v} | lm loss PPL: 9.5", "val/loss"),
    ],
)
def test_words_behind_and_before_a_name(line: str, name: str) -> None:
    values = [2.5, 1.25, 0.125]
    series = _one("".join(line.format(n=n, v=v) + "\n" for n, v in enumerate(values, 1)), name)
    assert series.values.tolist() == values
    assert [int(at) for at in series.at] == [1, 2, 3]


def test_two_metrics_with_a_slash_between_them_are_no_share() -> None:
    found = {
        series.name: series.values.tolist()
        for series in _read("1 train 1.5/0.25 val 2.5/0.5\n2 train 1.0/0.5 val 2.0/0.75\n")
    }
    assert found["train/loss"] == [1.5, 1.0]
    assert found["val/loss"] == [2.5, 2.0]


def test_a_count_out_of_a_whole_is_a_share() -> None:
    found = {
        series.name: series.values.tolist()
        for series in _read("epoch 1 loss 2.0 acc 100/400\nepoch 2 loss 1.0 acc 300/400\n")
    }
    assert found["train/accuracy"] == [0.25, 0.75]


def test_a_date_in_chinese_is_no_metric() -> None:
    text = "".join(f"2026年11月{n}日10时0{n}分05秒 第{n}轮 损失{1 / n:.3f} 用时3分20秒\n" for n in (1, 2, 4))
    assert {series.name for series in _read(text)} == {"train/loss", "time"}
