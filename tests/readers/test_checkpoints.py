"""Checkpoints as real writers leave them, and as crashes and attackers do: described, never loaded."""

from __future__ import annotations

import argparse
import io
import json
import os
import pickle
import random
import subprocess
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.extras import safetensors, torch
from tests.hostile_inputs import PICKLE_BOMBS
from tests.property_examples import examples
from traindx.readers import Scope
from traindx.readers.checkpoints import Checkpoint, read_checkpoint, read_sharded


def _net() -> Any:
    class Net(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.body = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8))
            self.head = torch.nn.Linear(8, 2)

        def forward(self, x: Any) -> Any:
            return self.head(self.body(x))

    return Net()


PARAMETERS = 4 * 8 + 8 + 8 + 8 + 8 * 2 + 2


def _described(content: bytes, path: str = "model.pt") -> Checkpoint:
    return read_checkpoint(io.BytesIO(content), path)[0]


def _saved(value: object, **options: object) -> bytes:
    out = io.BytesIO()
    torch.save(value, out, **options)
    return out.getvalue()


def _training_state(kind: str = "AdamW") -> dict[str, Any]:
    net = _net()
    optimizer = getattr(torch.optim, kind)(net.parameters(), lr=3e-4)
    net(torch.randn(5, 4)).sum().backward()
    optimizer.step()
    return {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 7, "best_loss": 0.25}


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
def test_a_training_state(zipped: bool) -> None:
    found = _described(_saved(_training_state(), _use_new_zipfile_serialization=zipped))
    assert found.format == ("torch-zip" if zipped else "torch-legacy")
    assert found.keys == ("model", "optimizer", "epoch", "best_loss")
    assert (found.scalars["epoch"], found.scalars["best_loss"]) == (7, 0.25)
    assert found.scalars["optimizer.param_groups[0].lr"] == 3e-4
    assert found.optimizers == {"optimizer": "AdamW"}
    assert (found.model_groups, found.parameters, found.holds) == (("model",), PARAMETERS, "training-state")
    first = found.tensors[0]
    assert (first.path, first.name, first.shape, first.dtype) == (
        "model.body.0.weight",
        "body.0.weight",
        (8, 4),
        "float32",
    )
    assert {tensor.name for tensor in found.tensors if tensor.part == "optimizer"} >= {
        "state.0.exp_avg",
        "state.5.exp_avg_sq",
    }
    assert (found.unsafe, found.foreign, found.problems) == ((), (), ())


def test_every_tensor_is_told_as_torch_would_load_it() -> None:
    kinds = (torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.uint8, torch.bool, torch.complex64)
    state = {f"layer.{kind}".replace("torch.", ""): torch.zeros(2, 3, dtype=kind) for kind in kinds}
    state["layer.view"] = torch.zeros(10, 10)[2:4, ::2]
    state["layer.parameter"] = torch.nn.Parameter(torch.zeros(5))
    found = {tensor.name: tensor for tensor in _described(_saved(state)).tensors}
    for name, tensor in state.items():
        assert found[name].shape == tuple(tensor.shape)
        assert f"torch.{found[name].dtype}" == str(tensor.dtype)
    assert found["layer.parameter"].trainable is True


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adamax", "NAdam", "Adadelta"])
def test_which_optimizer_wrote_it(kind: str) -> None:
    assert _described(_saved(_training_state(kind))).optimizers == {"optimizer": kind}
    assert _described(_saved(_training_state(kind)["optimizer"])).optimizers == {"": kind}


def test_a_lightning_checkpoint() -> None:
    state = _training_state()
    lightning = {
        "epoch": 3,
        "global_step": 1200,
        "pytorch-lightning_version": "2.4.0",
        "state_dict": OrderedDict((f"model.{name}", value) for name, value in state["model"].items()),
        "loops": {"fit_loop": {"state_dict": {}, "epoch_progress": {"total": {"ready": 4}}}},
        "callbacks": {"ModelCheckpoint{'monitor': 'val_loss'}": {"best_model_score": torch.tensor(0.3)}},
        "optimizer_states": [state["optimizer"]],
        "lr_schedulers": [{"last_epoch": 3, "_last_lr": [1e-4]}],
        "hyper_parameters": {"lr": 3e-4, "wandb_api_key": "0123456789abcdef", "hidden": 8},
    }
    found = _described(_saved(lightning), "epoch=3.ckpt")
    assert (found.scalars["global_step"], found.scalars["hyper_parameters.lr"]) == (1200, 3e-4)
    assert not any("api_key" in key for key in found.scalars)
    assert found.optimizers == {"optimizer_states[0]": "AdamW"}
    assert (found.parameters, found.prefixes) == (PARAMETERS, {"state_dict": "model."})


def test_prefixes_of_wrappers() -> None:
    state = _net().state_dict()
    parallel = {f"module.{name}": value for name, value in state.items()}
    compiled = {f"_orig_mod.module.{name}": value for name, value in state.items()}
    assert _described(_saved({"model": parallel})).prefixes == {"model": "module."}
    assert _described(_saved(compiled)).wrappers == ("module.", "_orig_mod.")
    assert _described(_saved(compiled)).prefixes == {"": "_orig_mod.module."}
    assert _described(_saved(state)).prefixes == {}


def test_a_copy_and_tied_weights_count_once() -> None:
    net = _net()
    both = {"model": net.state_dict(), "ema": {name: value.clone() for name, value in net.state_dict().items()}}
    assert _described(_saved(both)).parameters == PARAMETERS
    weight = torch.zeros(10, 4)
    tied = _saved({"embed.weight": weight, "head.weight": weight})
    assert _described(tied).parameters == 40


def test_a_whole_module_is_named_with_its_classes_and_tensors() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8))
    found = _described(_saved(net))
    assert "torch.nn.modules.container.Sequential" in found.objects
    assert [tensor.name for tensor in found.tensors] == [name for name, _ in net.named_parameters()] + [
        f"1.{name}" for name in ("running_mean", "running_var", "num_batches_tracked")
    ]
    assert found.parameters == 4 * 8 + 8 + 16
    assert found.foreign


def test_what_weights_only_refuses_is_foreign_but_not_unsafe() -> None:
    numpy = pytest.importorskip("numpy")
    state = {
        "w.weight": torch.zeros(1),
        "best": numpy.float64(0.5),
        "args": argparse.Namespace(**{"lr": 0.1, "hf_token": "abc"}),
    }
    found = _described(_saved({"state_dict": {"w.weight": torch.zeros(1)}, **state, "curve": numpy.arange(6.0)}))
    assert found.scalars["best"] == 0.5
    assert found.scalars["args.lr"] == 0.1
    assert "args.hf_token" not in found.scalars
    assert found.unsafe == ()
    assert "argparse.Namespace" in found.foreign
    assert [(tensor.shape, tensor.dtype) for tensor in found.tensors if tensor.name == "curve"] == [((6,), "float64")]


def test_plain_tensors_are_data() -> None:
    assert _described(_saved(torch.zeros(3, 4))).holds == "tensors"
    assert _described(_saved({"x": torch.zeros(3), "y": torch.zeros(3)})).holds == "tensors"
    assert _described(_saved(_net().state_dict())).holds == "model"


class _Runs:
    """Pickles to a call."""

    def __init__(self, function: Any, *arguments: object) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("wrapped", ["pickle", "torch"])
def test_a_malicious_pickle_is_named_and_never_run(tmp_path: Path, protocol: int, wrapped: str) -> None:
    marker = tmp_path / "MARKER"
    command = f"open({str(marker)!r}, 'w').close()"
    value = {
        "state_dict": {"a.weight": torch.zeros(2) if wrapped == "torch" else 0},
        "one": _Runs(os.system, f"touch {marker}"),
        "two": _Runs(eval, command),
        "three": _Runs(subprocess.Popen, ["touch", str(marker)]),
    }
    content = _saved(value, pickle_protocol=max(protocol, 2)) if wrapped == "torch" else pickle.dumps(value, protocol)
    found, remarks = read_checkpoint(io.BytesIO(content), "model.bin")
    assert not marker.exists()
    assert set(found.unsafe) >= {"posix.system", "builtins.eval", "subprocess.Popen"}
    assert any(call.startswith("posix.system('touch ") for call in found.calls)
    assert any("do not unpickle it" in remark for remark in remarks)


def test_the_malicious_pickle_is_a_live_one(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(_Runs(os.system, f"touch {tmp_path / 'MARKER'}")))  # noqa: S301 - what a user would do
    assert (tmp_path / "MARKER").exists()


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"\x80\x04\x8c\x05torch\x8c\x17serialization.os.system\x93\x8c\x02id\x85R.", "torch.serialization.os.system"),
        (b"(ios\nsystem\nS'id'\ntR.", "os.system"),
        (b"(S'id'\nios\nsystem\n.", "os.system"),
        (b"c__builtin__\neval\n(S'1'\ntR.", "builtins.eval"),
        (b"\x80\x02(cos\nsystem\nX\x02\x00\x00\x00ido.", "os.system"),
        (b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x8c\x04eval\x93.", "?.a computed name"),
    ],
)
def test_roundabout_ways_to_a_dangerous_name(content: bytes, name: str) -> None:
    assert name in _described(content, "x.pkl").unsafe


def test_a_cut_archive_says_so_and_still_tells_its_tensors() -> None:
    content = _saved({"model": {"big.weight": torch.zeros(500, 500)}, "epoch": 4})
    found, remarks = read_checkpoint(io.BytesIO(content[:60_000]), "last.pt")
    assert [tensor.shape for tensor in found.tensors] == [(500, 500)]
    assert found.scalars == {"epoch": 4}
    assert "PytorchStreamReader failed finding central directory" in remarks[0]
    assert "1,000,000 bytes, the file has 60,000" in remarks[0]


def test_a_cut_legacy_file_says_so() -> None:
    content = _saved({"w.weight": torch.zeros(500, 500)}, _use_new_zipfile_serialization=False)
    assert _described(content).problems == ()
    found = _described(content[:-5_000])
    assert found.problems[0].startswith("cut off: ")
    assert found.parameters == 250_000


def test_a_missing_storage_is_found() -> None:
    import zipfile

    content = io.BytesIO(_saved({"a.weight": torch.zeros(3), "b.weight": torch.zeros(3)}))
    smaller = io.BytesIO()
    with zipfile.ZipFile(content) as old, zipfile.ZipFile(smaller, "w") as new:
        for info in old.infolist():
            if not info.filename.endswith("/data/1"):
                new.writestr(info.filename, old.read(info))
    assert _described(smaller.getvalue()).problems == (
        "tensor `b.weight`: its record `data/1` is missing from the archive",
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"\0" * 100_000, "only zero bytes"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 1\n", "git lfs pull"),
        (b"\n<!DOCTYPE html><html>Sign in</html>", "HTML page"),
        (b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>", "download failed"),
        (b'{"error": "not found"}', "JSON text"),
        (b"hello, these are no weights", "format is not known"),
        (b"PK\x03\x04", "cut off or damaged"),
    ],
)
def test_what_is_no_checkpoint_says_what_it_is(content: bytes, said: str) -> None:
    found, remarks = read_checkpoint(io.BytesIO(content), "model.bin")
    assert said in remarks[0]
    assert found.tensors == ()


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_other_formats_are_recognised() -> None:
    assert _described(b"\x89HDF\r\n\x1a\n" + b"\0" * 100, "model.h5").format == "hdf5"
    assert _described(b"GGUF\x03\0\0\0", "model.gguf").format == "gguf"
    script = io.BytesIO()
    torch.jit.save(torch.jit.trace(torch.nn.Linear(2, 1), torch.zeros(1, 2)), script)
    assert _described(script.getvalue()).format == "torchscript"


def _safetensors(tensors: dict[str, tuple[str, list[int], int]], metadata: dict[str, str] | None = None) -> bytes:
    header: dict[str, object] = {"__metadata__": metadata} if metadata else {}
    end = 0
    for name, (dtype, shape, size) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    raw = json.dumps(header).encode()
    return len(raw).to_bytes(8, "little") + raw + b"\0" * end


def test_safetensors_by_the_real_writer() -> None:
    state = {"a.weight": torch.zeros(3, 4), "b.bias": torch.zeros(5, dtype=torch.bfloat16)}
    found = _described(safetensors.save(state, metadata={"format": "pt"}), "model.safetensors")
    told = {tensor.name: (tensor.shape, tensor.dtype) for tensor in found.tensors}
    assert told == {"a.weight": ((3, 4), "float32"), "b.bias": ((5,), "bfloat16")}
    assert (found.format, found.parameters, found.problems) == ("safetensors", 17, ())
    assert found.scalars == {"format": "pt"}


def test_safetensors_that_lie() -> None:
    good = _safetensors({"a.w": ("F32", [2, 2], 16)}, {"step": "5"})
    assert _described(good, "m.safetensors").problems == ()
    assert "cut off: the last 6 bytes" in _described(good[:-6], "m.safetensors").problems[0]
    assert "inside its header" in _described(good[:20], "m.safetensors").problems[0]
    assert "bytes follow" in _described(good + b"xx", "m.safetensors").problems[0]
    wrong = _safetensors({"a.w": ("F32", [2, 3], 16)})
    assert "takes 24 bytes, its slot has 16" in _described(wrong, "m.safetensors").problems[0]
    huge = (90_000_000).to_bytes(8, "little") + b'{"a":{"dtype":"F32"}}'
    assert "which is not plausible" in _described(huge, "m.safetensors").problems[0]


def test_shards_are_one_model_and_a_missing_one_is_named(tmp_path: Path) -> None:
    names = [f"model-0000{n}-of-00003.safetensors" for n in (1, 2, 3)]
    homes = {f"layers.{n}.weight": name for n, name in enumerate(names)}
    for n, name in enumerate(names[:2]):
        (tmp_path / name).write_bytes(_safetensors({f"layers.{n}.weight": ("F16", [10, 10], 200)}))
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": homes}))
    found, remarks = read_sharded(Scope.of(tmp_path), "model.safetensors.index.json")
    assert found.parameters == 200
    assert len(remarks) == 1
    assert names[2] in remarks[0]
    (tmp_path / names[2]).write_bytes(_safetensors({"other.weight": ("F16", [1], 2)}))
    _, remarks = read_sharded(Scope.of(tmp_path), "model.safetensors.index.json")
    assert "`layers.2.weight`" in remarks[0]


def test_an_index_cannot_lead_out_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "x.index.json").write_text(json.dumps({"weight_map": {"a": "../../etc/passwd", "b": "/etc/passwd"}}))
    found, remarks = read_sharded(Scope.of(tmp_path), "x.index.json")
    assert found.tensors == ()
    assert len(remarks) == 2


@pytest.mark.slow
def test_many_tensors_are_all_described() -> None:
    content = _saved({f"layer{n}.weight": torch.zeros(1) for n in range(3_000)})
    assert len(_described(content).tensors) == 3_000


@pytest.mark.parametrize("content", PICKLE_BOMBS.values(), ids=PICKLE_BOMBS)
@pytest.mark.slow
def test_pickle_bombs_are_bounded(content: bytes) -> None:
    _described(content, "x.pkl")


_WRITTEN: dict[str, Callable[[], bytes]] = {
    "torch": lambda: _saved(_training_state()),
    "torch legacy": lambda: _saved(_training_state(), _use_new_zipfile_serialization=False),
    "safetensors": lambda: _safetensors({"a.w": ("F32", [2, 2], 16), "b.w": ("BF16", [3], 6)}, {"step": "5"}),
    "pickle": lambda: pickle.dumps({"a": [1, 2.5, None, "x"], "b": {"c": (1,) * 5}, "d": {1, 2}}, 4),
}


def _well_behaved(content: bytes) -> None:
    found, remarks = read_checkpoint(io.BytesIO(content), "x.pt")
    assert found.parameters >= 0
    for told in (found.wrappers, found.prefixes, found.optimizers, found.holds, remarks):
        assert isinstance(told, (tuple, dict, list, str))


@settings(max_examples=examples(150))
@given(
    content=st.binary(max_size=400), start=st.sampled_from([b"", b"\x80\x02", b"\x80\x04", b"PK\x03\x04", b"(d", b"}"])
)
def test_no_bytes_make_describing_fail(content: bytes, start: bytes) -> None:
    _well_behaved(start + content)


@pytest.fixture(scope="module", params=_WRITTEN)
def written(request: pytest.FixtureRequest) -> bytes:
    return _WRITTEN[request.param]()


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 1 << 30), cut=st.booleans())
def test_damaged_files_never_raise(written: bytes, seed: int, cut: bool) -> None:
    chance, content = random.Random(seed), bytearray(written)
    for _ in range(chance.randint(1, 20)):
        content[chance.randrange(min(len(content), 3_000) if chance.random() < 0.7 else len(content))] = (
            chance.randrange(256)
        )
    _well_behaved(bytes(content[: chance.randrange(len(content))] if cut else content))
