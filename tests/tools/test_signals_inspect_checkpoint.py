"""Checkpoints as real training leaves them, sound and faulty: what is found, and what must stay silent."""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.extras import safetensors, torch
from tests.tools.signal_case import Case, Files, case, check, falling, log

pytestmark = pytest.mark.slow

TOOL = "inspect_checkpoint"
SPOILT = "weights-not-finite weights-not-finite-after-break"


def saved(make: Callable[[], object], **options: object) -> Callable[[], bytes]:
    """A file that torch writes when the test runs."""

    def write() -> bytes:
        torch.manual_seed(0)
        out = io.BytesIO()
        torch.save(make(), out, **options)
        return out.getvalue()

    return write


def heads(checkpoint: str, given: int, more: str = "") -> dict[str, str | Callable[[], bytes]]:
    """A checkpoint of a model with eight heads, and a configuration that loads one."""
    args = {"n_head": 8, "d_model": 64, "num_classes": 10}
    return {
        "ckpt/last.pt": saved(lambda: {"model": net().state_dict(), "model_args": args, "step": 900}),
        "eval.yaml": f"checkpoint: {checkpoint}\nmodel:\n  d_model: 64\n  n_head: {given}\n  {more}\n",
    }


EVALUATE = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 16), nn.ReLU())
        self.head = nn.Linear(16, 2)


model = {made}
model.load_state_dict(torch.load("best.pt"), {strict})
"""


def loaded(prefix: str, made: str = "Net()", strict: str = "strict=False") -> Files:
    """A checkpoint whose names may carry a prefix, and a program that loads it into a model."""
    shapes = {"body.0.weight": (16, 16), "body.0.bias": (16,), "head.weight": (2, 16), "head.bias": (2,)}
    return {
        "best.pt": saved(lambda: {f"{prefix}{name}": torch.randn(shape) for name, shape in shapes.items()}),
        "evaluate.py": EVALUATE.format(made=made, strict=strict),
    }


def given_away() -> Files:
    """The same, where a function of another file is given the model."""
    files = loaded("module.")
    program = str(files["evaluate.py"]).partition("model.load")[0]
    return {
        "best.pt": files["best.pt"],
        "evaluate.py": f"{program}from keep import resume\nresume(model, 'best.pt')\n",
        "keep.py": "import torch\n\n\ndef resume(net, to):\n    net.load_state_dict(torch.load(to), strict=False)\n",
    }


FINETUNE = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, d))


class Encoder(nn.Module):
    def __init__(self, d=16, depth=3):
        super().__init__()
        self.emb = nn.Embedding(6, d)
        self.layers = nn.ModuleList(Block(d) for _ in range(depth))
        self.tail = nn.Sequential(*[Block(d) for _ in range(2)])


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = Encoder()
        self.head = nn.Linear(16, 2)


net = Probe()
state = torch.load("pretrained.pt")["state_dict"]
{more}net.load_state_dict(state, strict=False)
"""


def pretrained(part: str = "encoder", more: str = "") -> Files:
    """The encoder of one model, saved under a name of its own, and a program that loads it into another model."""
    shapes = {f"{part}.emb.weight": (6, 16), "decoder.weight": (3, 16), "decoder.bias": (3,)}
    for place in (*(f"layers.{n}" for n in range(3)), "tail.0", "tail.1"):
        for linear in (0, 2):
            name = f"{part}.{place}.mlp.{linear}"
            shapes |= {f"{name}.weight": (16, 16), f"{name}.bias": (16,)}
    return {
        "pretrained.pt": saved(lambda: {"state_dict": {name: torch.randn(shape) for name, shape in shapes.items()}}),
        "finetune.py": FINETUNE.format(more=more),
    }


def cut(write: Callable[[], bytes], kept: float) -> Callable[[], bytes]:
    return lambda: write()[: int(len(write()) * kept)]


def stored(make: Callable[[], dict[str, Any]]) -> Callable[[], bytes]:
    return lambda: bytes(safetensors.save(make()))


def net(depth: int = 3, norm: bool = False) -> Any:
    torch.manual_seed(0)
    layers: list[Any] = []
    for _ in range(depth):
        layers += [torch.nn.Linear(16, 16), *([torch.nn.BatchNorm1d(16)] if norm else []), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(16, 2))


def trained(model: Any, steps: int = 30, parameters: Any = None, **more: object) -> dict[str, Any]:
    """A few real steps of Adam, and what a script saves."""
    optimizer = torch.optim.Adam(list(parameters or model.parameters()), lr=1e-2)
    inputs = torch.randn(32, 16, generator=torch.Generator().manual_seed(1))
    for _ in range(steps):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), (inputs.sum(1) > 0).long()).backward()
        optimizer.step()
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": steps, **more}


def spoilt(part: str = "2.weight", value: float = float("nan")) -> dict[str, Any]:
    state = trained(net())
    state["model"][part].view(-1)[5:9] = value
    return state


def spoilt_moments() -> dict[str, Any]:
    state = trained(net())
    state["optimizer"]["state"][0]["exp_avg"][0, 0] = float("nan")
    return state


def negative_squares() -> dict[str, Any]:
    state = trained(net())
    state["optimizer"]["state"][2]["exp_avg_sq"].view(-1)[3:6] = -1e30
    return state


def for_use(given: int, name: str = "eval.yaml", width: int = 64, more: str = "") -> Files:
    """A checkpoint of a model with eight heads, and a configuration that names no checkpoint."""
    args = {"model": {"n_head": 8, "dim": 64, "n_layer": 2}, "lr": 0.1}
    return {
        "last.pt": saved(lambda: {"weights": net().state_dict(), "config": args}),
        f"configs/{name}": f"model:\n  dim: {width}\n  n_layer: 2\n  n_head: {given}\n{more}",
    }


def resumed(name: str, breaks: int) -> Files:
    """A run that goes on at step 30 from what was saved there, and breaks so many values later."""
    lines = [f"step {n} loss {2 - n / 50:.4f}" for n in range(10, 31, 5)] + [f"resumed from {name} (step 30)"]
    return log([*lines, *(f"step {30 + n} loss {'nan' if n >= breaks else 1.4}" for n in range(12))])


def without_variance() -> dict[str, Any]:
    state = trained(net(norm=True))
    state["model"]["1.running_var"].zero_()
    return state


def wrapped() -> dict[str, Any]:
    return {f"module.{name}": value for name, value in net().state_dict().items()}


def masked() -> dict[str, Any]:
    state = trained(net())
    state["model"]["scores"] = torch.tensor([0.1, float("-inf")])
    return state


def dead(steps: int = 300, bias: float = -30.0) -> dict[str, Any]:
    model = net(2)
    model[2].bias.data[:12] = bias
    return trained(model, steps)


def constant(steps: int = 50) -> dict[str, Any]:
    model = net()
    for layer in (model[2], model[4]):
        torch.nn.init.zeros_(layer.weight)
    return {"model": model.state_dict(), "step": steps}


def lstm(forget: float) -> dict[str, Any]:
    model = torch.nn.LSTM(8, 16)
    model.bias_ih_l0.data[16:32] = forget
    return {"model": {f"rnn.{name}": value for name, value in model.state_dict().items()}, "step": 100}


def adapter(trained_by: float) -> dict[str, Any]:
    return {
        f"base_model.model.layers.{n}.q_proj.lora_{side}.weight": torch.randn(4, 8) if side == "A" else
        torch.full((8, 4), trained_by)
        for n in range(3)
        for side in "AB"
    }  # fmt: skip


def table(rows: int) -> dict[str, Any]:
    return {"model.embed_tokens.weight": torch.randn(rows, 4), "model.norm.weight": torch.ones(4)}


def blocks(count: int) -> dict[str, Any]:
    made = {f"model.layers.{n}.mlp.weight": torch.randn(4, 4) for n in range(count)}
    return {**made, "lm_head.weight": torch.randn(9, 4)}


def tokenizer(size: int) -> str:
    added = [{"id": size - 1, "content": "<|pad|>"}]
    return json.dumps({"model": {"vocab": {f"t{n}": n for n in range(size - 1)}}, "added_tokens": added})


def grown(times: float) -> dict[str, Any]:
    state = {f"blocks.{n}.fc.weight": torch.randn(8, 8) for n in range(6)}
    state["blocks.3.fc.weight"] *= times
    return state


def scaler(scale: float) -> dict[str, Any]:
    held = {"scale": scale, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2000, "_growth_tracker": 0}
    return {**trained(net()), "scaler": held}


def steps(*more: str) -> Files:
    lines = [f"step {10 * n} loss {value:.4f}" for n, value in enumerate(falling(40), 1)]
    return log([*lines, *more])


def two(freeze: bool = False, still: bool = False) -> Files:
    """Two checkpoints of one run, the second some steps after the first."""

    def at(count: int) -> dict[str, Any]:
        model = net()
        own = list(model.parameters())
        return trained(model, 10 if still else count, own[4:] if freeze else own, step=count)

    return {"step-10.pt": saved(partial(at, 10)), "step-40.pt": saved(partial(at, 40))}


class Command:
    """What a hostile pickle holds."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        import os

        return os.system, ("touch MARKER",)


class Kept:
    """An ordinary object in a checkpoint."""

    def __init__(self) -> None:
        self.lr = 0.1


def rows() -> Files:
    """A backbone that fits, and a file of data that the program loads as well."""
    data = saved(lambda: {"x": torch.zeros(90, 16), "y": torch.zeros(90)})
    return {**pretrained("backbone", "rows = torch.load('rows.pt')\n"), "rows.pt": data}


NAN_FROM_THE_START = log(["resumed last.pt", *(f"step {n} loss nan" for n in range(10, 100, 10))])
BROKE = log(
    [f"step {10 * n} loss {2.0 - n / 20:.4f}" for n in range(20)] + [f"step {n} loss nan" for n in range(200, 300, 10)]
)
FULL = saved(lambda: trained(net()))
FAILED = (
    'Traceback (most recent call last):\n  File "t.py", line 3, in <module>\n    m.load_state_dict(s)\n'
    "RuntimeError: Error(s) in loading state_dict for Net:\n"
)

CASES = [
    case(TOOL, "a prefix that loading passes over", loaded("module."), "checkpoint-keys-not-loaded"),
    case(TOOL, "names of the model itself", loaded(""), silent="checkpoint-keys-not-loaded"),
    case(TOOL, "a part of another name", pretrained(), "checkpoint-keys-not-loaded"),
    case(TOOL, "the same, and tensors are split on the way", pretrained(more="parts = torch.randperm(600).split(64)\n"),
         "checkpoint-keys-not-loaded"),
    *(
        case(TOOL, f"names that are put right: {how}", pretrained(more=how), silent="checkpoint-keys-not-loaded")
        for how in (
            "state = {k.replace('encoder', 'backbone'): v for k, v in state.items()}\n",
            "state = {'backbone.' + k[8:]: v for k, v in state.items()}\n",
            "state = dict((rename(k), v) for k, v in state.items())\n",
            "for k in list(state):\n    state[k.replace('encoder', 'backbone')] = state.pop(k)\n",
        )
    ),
    case(TOOL, "another prefix is taken away than the names have",
         pretrained(more="state = {k.removeprefix('module.'): v for k, v in state.items()}\n"),
         "checkpoint-keys-not-loaded"),
    case(TOOL, "a function is given the model and loads it", given_away(), "checkpoint-keys-not-loaded"),
    case(TOOL, "data beside it that is loaded as well", rows(), silent="checkpoint-keys-not-loaded"),
    case(TOOL, "a backbone that fits, under another head", pretrained("backbone"), silent="checkpoint-keys-not-loaded"),
    case(TOOL, "a prefix that the wrapped model has too", loaded("module.", "nn.DataParallel(Net())"),
         silent="checkpoint-keys-not-loaded"),
    case(TOOL, "loading that would complain", loaded("module.", strict="strict=True"),
         silent="checkpoint-keys-not-loaded"),
    case(TOOL, "a model of unknown make", loaded("module.", "timm.create_model('vit')"),
         silent="checkpoint-keys-not-loaded"),
    case(TOOL, "NaN weights that a run started from", {"last.pt": saved(spoilt), **NAN_FROM_THE_START},
         "weights-not-finite", "weights-not-finite-after-break"),
    case(TOOL, "NaN weights and nothing else", {"last.pt": saved(spoilt)}, "weights-not-finite"),
    case(TOOL, "NaN weights of a run that broke by itself", {"last.pt": saved(spoilt), **BROKE},
         "weights-not-finite-after-break", "weights-not-finite"),
    case(TOOL, "NaN in the old format", {"last.pt": saved(spoilt, _use_new_zipfile_serialization=False)},
         "weights-not-finite"),
    case(TOOL, "a prefix, and loading failed", {"last.pt": saved(wrapped), "train.log": FAILED},
         "checkpoint-keys-prefixed"),
    case(TOOL, "a prefix that was dealt with", {"last.pt": saved(wrapped), "train.log": "weights loaded\n"},
         silent="checkpoint-keys-prefixed"),
    case(TOOL, "sound weights", {"last.pt": FULL, **steps()},
         silent=f"{SPOILT} checkpoint-damaged weights-constant checkpoint-is-no-weights"
         " optimizer-lacks-parameters units-without-gradient checkpoint-needs-classes optimizer-not-finite"),
    case(TOOL, "minus infinity is a mask", {"last.pt": saved(masked)}, silent=SPOILT),
    case(TOOL, "NaN in the optimizer alone", {"last.pt": saved(spoilt_moments)}, "optimizer-not-finite", SPOILT),
    case(TOOL, "an average of squares below zero", {"last.pt": saved(negative_squares)}, "second-moments-negative",
         "optimizer-not-finite"),
    case(TOOL, "averages that training left", {"last.pt": FULL}, silent="second-moments-negative"),
    case(TOOL, "NaN in the optimizer that a run went on from",
         {"last.pt": saved(spoilt_moments), **resumed("last.pt", 1)}, "resumed-from-spoilt-optimizer"),
    case(TOOL, "NaN long after the run went on", {"last.pt": saved(spoilt_moments), **resumed("last.pt", 9)},
         silent="resumed-from-spoilt-optimizer"),
    case(TOOL, "a sound optimizer, and NaN at once", {"last.pt": FULL, **resumed("last.pt", 1)},
         silent="resumed-from-spoilt-optimizer second-moments-negative"),
    case(TOOL, "an archive that was cut", {"last.pt": cut(FULL, 0.6)}, "checkpoint-damaged", SPOILT),
    case(TOOL, "a safetensors file that was cut", {"m.safetensors": cut(stored(partial(table, 64)), 0.7)},
         "checkpoint-damaged"),
    case(TOOL, "an empty file", {"last.pt": b"\0" * 4096}, "checkpoint-damaged"),
    case(TOOL, "a page instead of weights", {"model.pt": "<!DOCTYPE html><html>401</html>"}, "checkpoint-is-no-weights",
         "checkpoint-damaged"),
    case(TOOL, "a shard that the index names is not there",
         {"m.index.json": json.dumps({"weight_map": {"model.norm.weight": "m-1.safetensors", "b": "m-2.safetensors"}}),
          "m-1.safetensors": stored(partial(table, 8))}, "checkpoint-damaged"),
    case(TOOL, "weights that were not copied", {"m.index.json": json.dumps({"weight_map": {"b": "m-2.safetensors"}})},
         silent="checkpoint-damaged"),
    case(TOOL, "a file of no bytes", {"last.pt": b""}, "checkpoint-damaged"),
    case(TOOL, "a file that is being written", {"last.pt": FULL, "last.tmp.pt": cut(FULL, 0.5)},
         silent="checkpoint-damaged"),
    case(TOOL, "a pickle with a command", {"model.pkl": partial(pickle.dumps, {"w": Command()})},
         "checkpoint-runs-code", "checkpoint-needs-classes"),
    case(TOOL, "a command inside an archive", {"model.pt": saved(Command)}, "checkpoint-runs-code"),
    case(TOOL, "a command in a pickle among the data", {"data/train.pkl": partial(pickle.dumps, [Command()]),
         "last.pt": FULL}, "checkpoint-runs-code"),
    case(TOOL, "an object of the project", {"last.pt": saved(lambda: {"config": Kept(), **trained(net())})},
         "checkpoint-needs-classes", "checkpoint-runs-code"),
    case(TOOL, "a whole model", {"model.pt": saved(net)}, "checkpoint-needs-classes", "checkpoint-runs-code"),
    case(TOOL, "units that died", {"last.pt": saved(dead)}, "units-without-gradient"),
    case(TOOL, "units that live", {"last.pt": saved(partial(dead, 300, 0.0))}, silent="units-without-gradient"),
    case(TOOL, "too early to say", {"last.pt": saved(partial(dead, 50))}, silent="units-without-gradient"),
    case(TOOL, "matrices of one number after training", {"last.pt": saved(constant)}, "weights-constant"),
    case(TOOL, "zeros before the first step", {"last.pt": saved(partial(constant, 0))}, silent="weights-constant"),
    case(TOOL, "forget gates shut", {"last.pt": saved(partial(lstm, -3.0))}, "forget-gates-closed"),
    case(TOOL, "forget gates open", {"last.pt": saved(partial(lstm, 1.0))},
         silent="forget-gates-closed gate-biases-extreme"),
    case(TOOL, "gates pinned open", {"last.pt": saved(partial(lstm, 12.0))}, "gate-biases-extreme",
         "forget-gates-closed"),
    case(TOOL, "batch norm in use", {"last.pt": saved(lambda: trained(net(norm=True)))},
         silent="batchnorm-never-updated batchnorm-variance-zero"),
    case(TOOL, "batch norm never updated",
         {"last.pt": saved(lambda: {"model": net(norm=True).state_dict(), "step": 500})},
         "batchnorm-never-updated"),
    case(TOOL, "batch norm over inputs that never vary", {"last.pt": saved(without_variance)},
         "batchnorm-variance-zero"),
    case(TOOL, "batch norm at the start", {"last.pt": saved(lambda: {"model": net(norm=True).state_dict(), "step": 0})},
         silent="batchnorm-never-updated"),
    case(TOOL, "an adapter that never trained",
         {"checkpoint-400/adapter_model.safetensors": stored(partial(adapter, 0.0))},
         "adapter-untouched", "adapter-trained"),
    case(TOOL, "a fresh adapter", {"checkpoint-0/adapter_model.safetensors": stored(partial(adapter, 0.0))},
         silent="adapter-untouched weights-constant"),
    case(TOOL, "an adapter of no known age", {"adapter_model.safetensors": stored(partial(adapter, 0.0))},
         silent="adapter-untouched weights-constant"),
    case(TOOL, "a trained adapter", {"checkpoint-400/adapter_model.safetensors": stored(partial(adapter, 0.1))},
         "adapter-trained", "adapter-untouched"),
    case(TOOL, "an optimizer without half of the model",
         {"last.pt": saved(lambda: trained(model := net(), parameters=list(model.parameters())[4:]))},
         "optimizer-lacks-parameters"),
    case(TOOL, "frozen on purpose",
         {"last.pt": saved(lambda: trained(model := net(), parameters=list(model.parameters())[4:])),
          "config.yaml": "freeze_backbone: true\n"}, silent="optimizer-lacks-parameters parameters-unmoved"),
    case(TOOL, "the scale is gone", {"last.pt": saved(partial(scaler, 0.25))}, "loss-scale-at-floor"),
    case(TOOL, "the scale is where it was", {"last.pt": saved(partial(scaler, 32768.0))}, silent="loss-scale-at-floor"),
    case(TOOL, "everything moved", two(), silent="weights-never-moved parameters-unmoved"),
    case(TOOL, "some layers did not move", two(freeze=True), "parameters-unmoved", "weights-never-moved"),
    case(TOOL, "nothing moved", two(still=True), "weights-never-moved"),
    case(TOOL, "more tokens than rows",
         {"model.safetensors": stored(partial(table, 100)), "tokenizer.json": tokenizer(104)},
         "token-ids-beyond-embedding"),
    case(TOOL, "rows padded to a multiple of 64", {"model.safetensors": stored(partial(table, 128)),
         "tokenizer.json": tokenizer(104), "config.json": '{"vocab_size": 128}'},
         silent="token-ids-beyond-embedding vocab-size-differs"),
    case(TOOL, "another vocabulary in the configuration",
         {"model.safetensors": stored(partial(table, 100)), "config.json": '{"vocab_size": 104}'},
         "vocab-size-differs"),
    case(TOOL, "loaded with other heads", heads("ckpt/last.pt", 4), "model-differs-from-checkpoint"),
    case(TOOL, "loaded with the same heads", heads("ckpt/last.pt", 8), silent="model-differs-from-checkpoint"),
    case(TOOL, "a configuration of another checkpoint", heads("old/best.pt", 4),
         silent="model-differs-from-checkpoint"),
    case(TOOL, "evaluated with other heads", for_use(4), "model-differs-from-checkpoint"),
    case(TOOL, "served with other heads", for_use(2, "serve_small.yaml"), "model-differs-from-checkpoint"),
    case(TOOL, "evaluated with the same heads", for_use(8), silent="model-differs-from-checkpoint"),
    case(TOOL, "a variant to be trained", for_use(4, "small.yaml"), silent="model-differs-from-checkpoint"),
    case(TOOL, "a test of another model", for_use(4, "test.yaml", 32), silent="model-differs-from-checkpoint"),
    case(TOOL, "an evaluation that names its own weights", for_use(4, more="weights: runs/old/best.pth\n"),
         silent="model-differs-from-checkpoint"),
    case(TOOL, "more classes on purpose", heads("ckpt/last.pt", 8, "num_classes: 5"),
         silent="model-differs-from-checkpoint"),
    case(TOOL, "fewer layers than configured",
         {"model.safetensors": stored(partial(blocks, 4)), "config.json": '{"num_hidden_layers": 6}'},
         "layers-differ-from-config"),
    case(TOOL, "as many layers as configured",
         {"model.safetensors": stored(partial(blocks, 4)), "config.json": '{"num_hidden_layers": 4}'},
         silent="layers-differ-from-config"),
    case(TOOL, "one layer outgrew its peers", {"last.pt": saved(partial(grown, 1000.0))}, "weights-outlying"),
    case(TOOL, "layers of one size", {"last.pt": saved(partial(grown, 3.0))}, silent="weights-outlying"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(
    found: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    (tmp_path / "run").mkdir()
    check(found, tmp_path / "run")
    assert not list(elsewhere.iterdir()), "nothing in a checkpoint is executed"
