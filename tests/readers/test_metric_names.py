"""Names of metrics: what is one thing gets one name, and what is not a loss is never called one."""

from __future__ import annotations

import pytest

from traindx.vocabulary.metrics import normalise


@pytest.mark.parametrize(
    ("original", "name"),
    [
        ("loss", "train/loss"),
        ("train_loss", "train/loss"),
        ("training_loss", "train/loss"),
        ("train/loss", "train/loss"),
        ("Loss/train", "train/loss"),
        ("trainLoss", "train/loss"),
        ("Average loss", "train/loss"),
        ("val_loss", "val/loss"),
        ("valid_loss", "val/loss"),
        ("validation_loss", "val/loss"),
        ("eval_loss", "val/loss"),
        ("dev_loss", "val/loss"),
        ("held-out loss", "val/loss"),
        ("rmse_holdout", "val/rmse"),
        ("va_loss", "val/loss"),
        ("L_total", "train/loss"),
        ("nll/tok", "train/nll"),
        ("nll_sum", "train/nll"),
        ("p\u00e9rdida", "train/perdida"),
        ("gn", "grad_norm"),
        ("test_loss", "test/loss"),
        ("acc", "train/accuracy"),
        ("val_accuracy", "val/accuracy"),
        ("Test Accuracy", "test/accuracy"),
        ("lr", "lr"),
        ("learning_rate", "lr"),
        ("lr-Adam", "lr"),
        ("optimizer.lr", "lr"),
        ("lr/group0", "lr"),
        ("grad_norm", "grad_norm"),
        ("gradient_norm", "grad_norm"),
        ("gnorm", "grad_norm"),
        ("grad-norm", "grad_norm"),
        ("total_norm", "grad_norm"),
        ("Iters", "step"),
        ("current iter", "step"),
        ("val_f1", "val/f1"),
        ("eval/perplexity", "val/perplexity"),
        ("损失", "train/loss"),
        ("训练损失", "train/loss"),
        ("验证损失", "val/loss"),
        ("验证集RMSE", "val/rmse"),
        ("测试准确率", "test/accuracy"),
        ("学习率", "lr"),
        ("梯度范数", "grad_norm"),
        ("検証損失", "val/loss"),
        ("정확도", "train/accuracy"),
    ],
)
def test_spellings_of_one_metric_meet(original: str, name: str) -> None:
    assert normalise(original).name == name


@pytest.mark.parametrize(
    "original",
    [
        "loss_scale",
        "loss_weight",
        "val_loss_every",
        "train_time",
        "tokens/s",
        "eta",
        "it/s",
        "gpu_mem_gb",
        "d_loss",
        "L_ic",
        "l",
        "损失缩放",
        "混合精度",
        "用户向量范数",
    ],
)
def test_what_is_not_the_loss_is_not_called_so(original: str) -> None:
    assert not normalise(original).name.endswith("/loss")


@pytest.mark.parametrize("original", ["active_l1", "grad_l1", "top_rec"])
def test_a_layer_is_no_distance(original: str) -> None:
    assert normalise(original).kind != "loss"


@pytest.mark.parametrize("original", ["epoch", "\u00c9poque", "Epoch", "_epoch", "train epoch"])
def test_epoch_counters(original: str) -> None:
    assert normalise(original).kind == "epoch"


@pytest.mark.parametrize("original", ["step", "_step", "global_step", "iter", "Iteration", "num_updates"])
def test_step_counters(original: str) -> None:
    assert normalise(original).kind == "step"


@pytest.mark.parametrize("original", ["warmup_step", "max_steps", "epochs", "step_avg"])
def test_what_merely_mentions_a_counter_counts_nothing(original: str) -> None:
    assert normalise(original).kind not in {"step", "epoch"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("grad_norm/layers.0.attn.weight", "norm"),
        ("gradients/layer1.0.conv1.weight", "norm"),
        ("train/grad_2.0_norm/fc1.bias", "norm"),
        ("grad_norm_layer_3", "norm"),
        ("grad_accumulation", "other"),
        ("weights/fc1.weight", "other"),
        ("gradient_checkpointing", "other"),
    ],
)
def test_the_gradient_of_a_layer_is_a_norm(name: str, kind: str) -> None:
    assert normalise(name).kind == kind
