"""Numbers, errors, layers and suspicions are taken from a message as they stand there."""

from __future__ import annotations

import math

import pytest

from traindx.pipeline.request import Mentions, understand


def named(message: str) -> Mentions:
    return understand(message).mentions


@pytest.mark.parametrize(
    ("message", "epochs"),
    [
        ("loss diverged at epoch 7", (7,)),
        ("fine until the 12th epoch", (12,)),
        ("loss 0.5 -> 0.48 after 100 epochs", (100,)),
        ("epoch: 3, epoch=4", (3, 4)),
        ("epoch 7/100 and it is nan", (7,)),
        ("breaks in epoch seven", (7,)),
        ("ab Epoche 9 steigt der Verlust", (9,)),
        ("\u8bad\u7ec3\u5230\u7b2c7\u4e2aepoch", (7,)),
        ("spike at epoch 2.5", (2.5,)),
        ("three epochs in", (3,)),
        ("no numbers here", ()),
    ],
)
def test_epochs(message: str, epochs: tuple[float, ...]) -> None:
    assert named(message).epochs == epochs


@pytest.mark.parametrize(
    ("message", "steps"),
    [
        ("grad_norm spike at step 24590", (24590,)),
        ("iteration 3,000 and iteration 12_500", (3000, 12500)),
        ("dies after 24.5k steps", (24500,)),
        ("collapsed after 2M steps", (2_000_000,)),
        ("global_step=412", (412,)),
        ("oom at batch 412 with batch size 64", (412,)),
        ("batch_size 32", ()),
    ],
)
def test_steps(message: str, steps: tuple[int, ...]) -> None:
    assert named(message).steps == steps


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("loss went from 0.5 to 0.48", [("loss", 0.5, ""), ("loss", 0.48, "")]),
        ("loss started at 0.5 and is now at 0.48", [("loss", 0.5, ""), ("loss", 0.48, "")]),
        ("my loss keeps jumping between 0.3 and 0.8", [("loss", 0.3, ""), ("loss", 0.8, "")]),
        ("lr 1e-3, batch size 32", [("lr", 1e-3, ""), ("batch_size", 32, "")]),
        ("muon_lr=1e-2", [("muon_lr", 1e-2, "")]),
        ("learning rate of 0.001", [("learning_rate", 0.001, "")]),
        ("accuracy was 95 % yesterday", [("accuracy", 95, "%")]),
        ("val_loss=2.31", [("val_loss", 2.31, "")]),
        ("on a 24 GB card at 1.7 it/s", [("memory", 24, "GB"), ("speed", 1.7, "it/s")]),
        ("grad_norm is inf", [("grad_norm", math.inf, "")]),
    ],
)
def test_quantities(message: str, expected: list[tuple[str, float, str]]) -> None:
    found = named(message).quantities
    assert [(item.name, item.value, item.unit) for item in found] == expected
    assert all(item.text in message for item in found)


def test_a_nan_is_a_quantity_too() -> None:
    (quantity,) = named("loss is nan").quantities
    assert math.isnan(quantity.value)


@pytest.mark.parametrize(
    ("message", "errors"),
    [
        ("Getting 'var(): degrees of freedom is <= 0' in training", ("var(): degrees of freedom is <= 0",)),
        ("KeyError: 'module.conv1.weight'", ("KeyError: 'module.conv1.weight'",)),
        ("I get \u201cexpected scalar type Half but found Float\u201d", ("expected scalar type Half but found Float",)),
        ("ValueError: bad shape\nthen nothing", ("ValueError: bad shape",)),
        ("CUDA error: out of memory", ("CUDA error: out of memory",)),
        ("RuntimeError: CUDA out of memory. What can I do?", ("RuntimeError: CUDA out of memory",)),
        ("RuntimeError: Tried to `step` twice. My labels are fine.", ("RuntimeError: Tried to `step` twice",)),
        ("ResourceExhaustedError", ("ResourceExhaustedError",)),
        ("Es kommt \u201eRuntimeError: CUDA error: unknown\u201c", ("RuntimeError: CUDA error: unknown",)),
        ("it's my friend's 'nice' model", ()),
        ("outputs '::::' only", ()),
    ],
)
def test_errors_are_kept_to_the_letter(message: str, errors: tuple[str, ...]) -> None:
    found = named(message).errors
    assert found == errors
    assert all(error in message for error in found)


def test_the_exception_of_a_pasted_traceback_is_found() -> None:
    message = (
        'help\nTraceback (most recent call last):\n  File "t.py", line 3, in <module>\n    f()\n'
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB\n"
    )
    assert named(message).errors == ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB",)


@pytest.mark.parametrize(
    ("message", "layers"),
    [
        ("NaN in encoder.layers.3.weight", ("encoder.layers.3.weight",)),
        ("gradient of lstm.weight_hh_l0 and fc1", ("lstm.weight_hh_l0", "fc1")),
        ("dead units in layer 4", ("layer 4",)),
        ("see train.py and torch.2.1, config.yaml", ()),
    ],
)
def test_layers(message: str, layers: tuple[str, ...]) -> None:
    assert named(message).layers == layers


@pytest.mark.parametrize(
    ("message", "suspicions"),
    [
        ("accuracy fell to chance. random hardware error?", ("random hardware error",)),
        ("the loss is nan. Corrupt batch?", ("Corrupt batch",)),
        ("nothing moves, lr too low?", ("lr too low",)),
        ("a worker crashed, is my shared memory too small?", ("is my shared memory too small",)),
        ("I think the scheduler is wrong", ("I think the scheduler is wrong",)),
        ("Overfitting?", ("Overfitting",)),
        ("the loss went up. Is that normal?", ()),
        ("can you look at my run?", ()),
        ("why is my loss diverging?", ()),
    ],
)
def test_guesses_are_kept_apart_as_suspicions(message: str, suspicions: tuple[str, ...]) -> None:
    assert named(message).suspicions == suspicions
