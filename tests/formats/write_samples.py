"""Writes the samples that come from real writers, with what is expected of them: `python write_samples.py [NAME …]`.

Not run by the test suite. Used: Python 3.11, torch 2.13.0, tensorboard 2.21.0, lightning 2.6.6, transformers 5.22.2,
accelerate 1.15.0, wandb 0.31.0, mlflow-skinny 3.17.2 (with sqlalchemy and alembic), stable-baselines3 2.9.2,
gymnasium 1.4.0, sacred 0.8.7 (with setuptools < 80), hydra-core 1.3.8, trackio 0.43.0. Nothing contacts a server; host
names, users and paths are taken out afterwards. Samples without a function here are written by hand.
"""

# mypy: ignore-errors
# ruff: noqa: T201

import contextlib
import json
import math
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
OFFLINE = {"WANDB_MODE": "offline", "HF_HUB_OFFLINE": "1", "MLFLOW_ALLOW_FILE_STORE": "true", "COLUMNS": "120"}
STEPS = 40


def loss(step: int) -> float:
    """A falling loss, the same in every sample."""
    return round(2.5 / (1 + 0.1 * step), 4)


def series(source: str, name: str, points: list[tuple[float, float]], axis: str = "step") -> dict:
    """What is expected of a series."""
    middle = points[len(points) // 2]
    return {
        "source": source, "name": name, "axis": axis, "points": len(points),
        "first": points[0][1], "last": points[-1][1], "at": [list(points[0]), list(middle), list(points[-1])],
    }  # fmt: skip


def folder(name: str) -> Path:
    """An empty `files` folder for a sample."""
    files = HERE / name / "files"
    shutil.rmtree(files, ignore_errors=True)
    files.mkdir(parents=True)
    return files


def expect(name: str, writer: str, found: list[dict], **more: object) -> None:
    """Write `expected.yaml` of a sample; marks of what is wrong today stay."""
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 (PyYAML's signature)
            return True

    path = HERE / name / "expected.yaml"
    before = yaml.safe_load(path.read_text())["series"] if path.exists() else []
    marks = {_key(one): one["wrong_today"] for one in before if "wrong_today" in one}
    found = [{**one, "wrong_today": marks[_key(one)]} if _key(one) in marks else one for one in found]
    content = {"writer": writer, "series": found, **more}
    path.write_text(yaml.dump(content, Dumper=Dumper, sort_keys=False, width=120, default_flow_style=None))


def _key(one: dict) -> tuple[str, str, str | None]:
    return one["source"], one["name"], one.get("original")


def child(code: str, place: Path, *, output: Path | None = None) -> str:
    """Run a training script of its own in a folder, and keep what it prints, errors among it."""
    script = place / "train.py"
    script.write_text(code)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "train.py"], cwd=place, env={**os.environ, **OFFLINE},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    text = done.stdout.decode(errors="replace").replace(str(place), "/home/user/run").replace(sys.prefix, "/opt/venv")
    if output is not None:
        output.write_text(text)
    script.unlink()
    return text


def torch_tensorboard() -> None:
    """torch's SummaryWriter: old and new style, double precision, hyper-parameters, text, histogram."""
    import torch
    from torch.utils.tensorboard import SummaryWriter

    files = folder("tensorboard-torch")
    with SummaryWriter(str(files)) as writer:
        writer.add_text("notes", "first try")
        for step in range(STEPS):
            writer.add_scalar("Loss/train", loss(step), step)
            writer.add_scalar("lr", 0.5**step, step, new_style=True)
            writer.add_scalar("Loss/val", loss(step) + 0.25, step, new_style=True, double_precision=True)
        writer.add_scalar("Loss/train", math.nan, STEPS)
        writer.add_histogram("weights", torch.arange(10.0), STEPS)
    (path,) = files.iterdir()
    path.rename(files / "events.out.tfevents.1700000000.host.1.0")
    source = "events.out.tfevents.1700000000.host.1.0"
    train = [(step, loss(step)) for step in range(STEPS)] + [(STEPS, math.nan)]
    expect(
        "tensorboard-torch", "torch 2.13.0 SummaryWriter",
        [
            series(source, "train/loss", train),
            series(source, "val/loss", [(step, loss(step) + 0.25) for step in range(STEPS)]),
            series(source, "lr", [(step, 0.5**step) for step in range(STEPS)]),
        ],
        settings={"notes": "first try"}, remarks=["not read: 1 histogram"],
    )  # fmt: skip
    cut, raw, at = folder("tensorboard-cut"), (files / source).read_bytes(), 0
    for _ in range(99):  # the version, a text, and 97 scalars: train, lr, val, train, …
        at += 16 + struct.unpack_from("<Q", raw, at)[0]
    (cut / source).write_bytes(raw[: at + 30])
    expect(
        "tensorboard-cut", "torch 2.13.0 SummaryWriter, cut in record 100",
        [
            series(source, "train/loss", [(step, loss(step)) for step in range(33)]),
            series(source, "val/loss", [(step, loss(step) + 0.25) for step in range(32)]),
        ],
        remarks=["it is truncated in record 100"],
    )  # fmt: skip


def hparams_tensorboard() -> None:
    """torch's `add_hparams`, which writes a second folder with its own event file."""
    from torch.utils.tensorboard import SummaryWriter

    files = folder("tensorboard-hparams")
    with SummaryWriter(str(files)) as writer:
        writer.add_hparams({"lr": 3e-4, "optimizer": "adamw", "amp": True}, {"hparam/accuracy": 0.75}, run_name="trial")
    for path in files.rglob("events*"):
        path.rename(path.with_name("events.out.tfevents.1700000000.host.1.0"))
    source = "trial/events.out.tfevents.1700000000.host.1.0"
    expect(
        "tensorboard-hparams", "torch 2.13.0 SummaryWriter.add_hparams",
        [series(source, "hparam_accuracy", [(0, 0.75)])],
        settings={"lr": 3e-4, "optimizer": "adamw", "amp": True},
    )  # fmt: skip


WANDB = """
import wandb
run = wandb.init(project="demo", dir=".", config={"lr": 3e-4, "model": {"layers": 2}, "betas": [0.9, 0.95]},
                 settings=wandb.Settings(x_disable_stats=True, x_disable_machine_info=True, disable_git=True))
for step in range(40):
    value = round(2.5 / (1 + 0.1 * step), 4)
    wandb.log({"train/loss": value, "train": {"acc": step / 40}}, step=step * 5)
    print(f"step {step * 5} loss {value:.4f}")
wandb.log({"val/loss": float("nan")}, step=200)
raise RuntimeError("CUDA error: device-side assert triggered")
"""


def wandb_offline() -> None:
    """W&B in offline mode: its folder and its binary file, of a run that fails."""
    from wandb.proto.wandb_internal_pb2 import Record

    files = folder("wandb-offline")
    with tempfile.TemporaryDirectory() as place:
        child(WANDB, Path(place))
        (run,) = Path(place).glob("wandb/offline-run-*")
        target = files / "wandb" / "offline-run-20260101_000000-abcd1234"
        (target / "files").mkdir(parents=True)
        text = (run / "files" / "output.log").read_text().replace(str(Path(place).resolve()), "/home/user/run")
        (target / "files" / "output.log").write_text(text)
        raw = next(run.glob("run-*.wandb")).read_bytes()
    clean, at = bytearray(raw[:7]), 7
    while at + 7 <= len(raw):
        _, length, _ = struct.unpack_from("<IHB", raw, at)
        record = Record()
        record.ParseFromString(raw[at + 7 : at + 7 + length])
        at += 7 + length
        if record.WhichOneof("record_type") in {"environment", "files", "telemetry"}:
            continue
        for line in [record.output_raw] if record.HasField("output_raw") else []:
            line.line = line.line.replace(place, "/home/user/run")
        record.run.ClearField("host") if record.HasField("run") else None
        data = record.SerializeToString()
        clean += struct.pack("<IHB", zlib.crc32(b"\x01" + data), len(data), 1) + data
    assert len(clean) < 32 << 10, "records over several blocks are not re-framed here"
    (target / "run-abcd1234.wandb").write_bytes(clean)
    source = f"wandb/{target.name}/run-abcd1234.wandb"
    expect(
        "wandb-offline", "wandb 0.31.0, offline",
        [
            series(source, "train/loss", [(step * 5, loss(step)) for step in range(STEPS)]),
            series(source, "train/accuracy", [(step * 5, step / STEPS) for step in range(STEPS)]),
            series(source, "val/loss", [(200, math.nan)]),
            series(
                f"wandb/{target.name}/files/output.log", "train/loss", [(step * 5, loss(step)) for step in range(STEPS)]
            ),
        ],
        settings={"lr": 3e-4, "model.layers": 2, "betas[1]": 0.95},
        remarks=["exit code 1", "RuntimeError: CUDA error: device-side assert triggered"],
        errors=["RuntimeError: CUDA error: device-side assert triggered"],
    )  # fmt: skip


MLFLOW = """
import sys, mlflow
mlflow.set_tracking_uri({uri!r})
mlflow.set_experiment("demo")
with mlflow.start_run(run_name="tiny"):
    mlflow.log_params({{"lr": 3e-4, "batch_size": 32, "optimizer": "adamw"}})
    for step in range(40):
        mlflow.log_metric("train/loss", round(2.5 / (1 + 0.1 * step), 4), step=step * 10)
        if step % 10 == 9:
            mlflow.log_metric("val_loss", float("nan") if step == 39 else 2.0 - step / 40, step=step * 10)
    raise RuntimeError("boom")
"""


def mlflow_stores() -> None:
    """MLflow's file store and its SQLite store, of a run that fails."""
    train = [(step * 10, loss(step)) for step in range(STEPS)]
    val = [(step * 10, math.nan if step == 39 else 2.0 - step / 40) for step in range(9, STEPS, 10)]
    settings = {"lr": 3e-4, "batch_size": 32, "optimizer": "adamw", "mlflow.status": "FAILED"}
    files, run = folder("mlflow-files"), "0123456789abcdef0123456789abcdef"
    with tempfile.TemporaryDirectory() as place:
        child(MLFLOW.format(uri=f"file://{place}/mlruns"), Path(place))
        (meta,) = Path(place).glob("mlruns/*/*/meta.yaml")
        target = files / "mlruns" / "1" / run
        shutil.copytree(meta.parent, target)
        text = (target / "meta.yaml").read_text().replace(meta.parent.name, run).replace(place, "/home/user")
        (target / "meta.yaml").write_text(re.sub("user_id: .*", "user_id: user", text))
        (target / "tags" / "mlflow.user").write_text("user")
    expect(
        "mlflow-files", "mlflow-skinny 3.17.2, file store",
        [series(f"mlruns/1/{run}/metrics/train/loss", "train/loss", train),
         series(f"mlruns/1/{run}/metrics/val_loss", "val/loss", val)],
        settings=settings, remarks=["MLflow lists the run as FAILED"],
    )  # fmt: skip
    files = folder("mlflow-sqlite")
    with tempfile.TemporaryDirectory() as place:
        child(MLFLOW.format(uri=f"sqlite:///{place}/mlflow.db"), Path(place))
        shutil.copy(Path(place) / "mlflow.db", files)
    _keep_tables(files / "mlflow.db", {"runs", "metrics", "params"})
    with contextlib.closing(sqlite3.connect(files / "mlflow.db", isolation_level=None)) as store:
        store.execute("update runs set user_id = 'user', artifact_uri = ''")
        store.execute("vacuum")
    expect(
        "mlflow-sqlite", "mlflow-skinny 3.17.2, SQLite store; tables that hold nothing of the run were dropped",
        [series("mlflow.db", "train/loss", train), series("mlflow.db", "val/loss", val)],
        settings=settings, remarks=["MLflow lists the run as FAILED"],
    )  # fmt: skip


def _keep_tables(path: Path, kept: set[str]) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("pragma foreign_keys = off")
        for kind, name in store.execute("select type, name from sqlite_master").fetchall():
            if kind == "trigger" or (kind == "table" and name not in kept and not name.startswith("sqlite_")):
                store.execute(f'drop {kind} if exists "{name}"')
        store.execute("pragma journal_mode = delete")
        store.execute("pragma page_size = 1024")
        store.execute("vacuum")


TRACKIO = """
import os
os.environ["TRACKIO_DIR"] = os.getcwd()
import trackio
trackio.init(project="demo", name="tiny", config={"lr": 3e-4, "layers": 2}, auto_log_cpu=False, auto_log_gpu=False)
for step in range(40):
    trackio.log({"train/loss": round(2.5 / (1 + 0.1 * step), 4)}, step=step * 2)
trackio.log({"train/loss": float("nan")}, step=80)
trackio.finish()
"""


def trackio_store() -> None:
    """Trackio's SQLite store."""
    files = folder("trackio")
    with tempfile.TemporaryDirectory() as place:
        child(TRACKIO, Path(place))
        shutil.copy(Path(place) / "demo.db", files)
    _keep_tables(files / "demo.db", {"metrics", "configs"})
    points = [(step * 2, loss(step)) for step in range(STEPS)] + [(80, math.nan)]
    expect(
        "trackio",
        "trackio 0.43.0; empty tables were dropped",
        [series("demo.db", "train/loss", points)],
        settings={"lr": 3e-4, "layers": 2},
    )


SACRED = """
from sacred import Experiment
from sacred.observers import FileStorageObserver
ex = Experiment("demo", save_git_info=False)
ex.observers.append(FileStorageObserver("runs", copy_sources=False))

@ex.config
def configuration():
    lr = 3e-4
    model = {"layers": 2}

@ex.main
def main(_run, lr):
    for step in range(40):
        value = round(2.5 / (1 + 0.1 * step), 4)
        _run.log_scalar("train.loss", value, step * 5)
        print(f"step {step * 5} loss {value:.4f}")
    raise RuntimeError("CUDA out of memory")

ex.run()
"""


def sacred_files() -> None:
    """Sacred's file storage, of a run that fails."""
    files = folder("sacred")
    with tempfile.TemporaryDirectory() as place:
        child(SACRED, Path(place))
        for name in ("config.json", "metrics.json", "run.json", "cout.txt"):
            text = (
                (Path(place) / "runs" / "1" / name).read_text().replace(place, "/home/user").replace(sys.prefix, "/opt")
            )
            if name == "run.json":
                record = json.loads(text)
                record["host"] = {"hostname": "host"}
                text = json.dumps(record, indent=2)
            (files / name).write_text(text)
    points = [(step * 5, loss(step)) for step in range(STEPS)]
    expect(
        "sacred", "sacred 0.8.7, FileStorageObserver",
        [series("metrics.json", "train/loss", points)],
        settings={"lr": 3e-4, "model.layers": 2, "sacred.status": "FAILED"},
        remarks=["Sacred lists the run as FAILED", "RuntimeError: CUDA out of memory"],
    )  # fmt: skip


HYDRA = """
import logging, hydra
from omegaconf import DictConfig
log = logging.getLogger("train")

@hydra.main(version_base=None, config_path=".", config_name="config")
def main(cfg: DictConfig) -> None:
    for epoch in range(1, 11):
        log.info(f"epoch {epoch}: train loss {2.5 / epoch:.4f}, val loss {2.75 / epoch:.4f}")

main()
"""


def hydra_run() -> None:
    """A Hydra run folder with its `.hydra` and its log."""
    files = folder("hydra")
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "config.yaml").write_text(
            "optimizer:\n  lr: 3e-4\n  betas: [0.9, 0.95]\nseed: 7\nhydra:\n  run:\n    dir: out\n"
        )
        child(HYDRA.replace("main()\n", "import sys\nsys.argv.append('seed=11')\nmain()\n"), Path(place))
        for path in [*Path(place, "out/.hydra").iterdir(), *Path(place, "out").glob("*.log")]:
            target = files / path.relative_to(Path(place, "out"))
            target.parent.mkdir(exist_ok=True)
            target.write_text(path.read_text().replace(place, "/home/user").replace(sys.prefix, "/opt"))
    (log,) = files.glob("*.log")
    expect(
        "hydra", "hydra-core 1.3.8",
        [series(log.name, "train/loss", [(epoch, round(2.5 / epoch, 4)) for epoch in range(1, 11)], "epoch"),
         series(log.name, "val/loss", [(epoch, round(2.75 / epoch, 4)) for epoch in range(1, 11)], "epoch")],
        settings={"optimizer.lr": 3e-4, "optimizer.betas[1]": 0.95, "seed": 11},
    )  # fmt: skip


LIGHTNING = """
import torch, lightning as L
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
from torch.utils.data import DataLoader, TensorDataset

class Tiny(L.LightningModule):
    def __init__(self, lr=0.02, width=4):
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Linear(8, 1)
    def training_step(self, batch, index):
        loss = (self.layer(batch[0]) - batch[0].sum(1, keepdim=True)).square().mean()
        self.log("train_loss", loss, prog_bar=True)
        return loss
    def validation_step(self, batch, index):
        self.log("val_loss", (self.layer(batch[0]) - batch[0].sum(1, keepdim=True)).square().mean(), prog_bar=True)
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.lr)

L.seed_everything(0)
data = DataLoader(TensorDataset(torch.randn(64, 8)), batch_size=8)
held = DataLoader(TensorDataset(torch.randn(16, 8)), batch_size=8)
trainer = L.Trainer(max_epochs=4, log_every_n_steps=2, accelerator="cpu", enable_checkpointing=False,
                    logger=[CSVLogger(".", name="csv", version=0), TensorBoardLogger(".", name="tb", version=0)],
                    callbacks=[L.pytorch.callbacks.TQDMProgressBar()])
trainer.fit(Tiny(), data, held)
"""


def lightning_run() -> None:
    """Lightning with both loggers, and its progress bars."""
    import csv

    files = folder("lightning")
    with tempfile.TemporaryDirectory() as place:
        child(LIGHTNING, Path(place), output=files / "train.log")
        for name in ("csv/version_0/metrics.csv", "csv/version_0/hparams.yaml", "tb/version_0/hparams.yaml"):
            (files / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(place) / name, files / name)
        (events,) = Path(place).glob("tb/version_0/events*")
        shutil.copy(events, files / "tb/version_0/events.out.tfevents.1700000000.host.1.0")
    with (files / "csv/version_0/metrics.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    found = []
    for name in ("train", "val"):
        points = [(int(row["step"]), float(row[f"{name}_loss"])) for row in rows if row[f"{name}_loss"]]
        found.append(series("csv/version_0/metrics.csv", f"{name}/loss", points))
        found.append(series("tb/version_0/events.out.tfevents.1700000000.host.1.0", f"{name}/loss", points))
    ends = re.findall(r"train_loss=([0-9.]+), val_loss=([0-9.]+)", (files / "train.log").read_text())[-1]
    for name, value in zip(("train", "val"), ends, strict=True):
        found.append({"source": "train.log", "name": f"{name}/loss", "axis": "epoch", "last": float(value)})
    expect(
        "lightning",
        "lightning 2.6.6: CSVLogger, TensorBoardLogger, TQDMProgressBar",
        found,
        settings={"lr": 0.02, "width": 4},
    )


TRANSFORMERS = """
import torch
from transformers import Trainer, TrainingArguments

class Tiny(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)
    def forward(self, x, labels):
        return {"loss": (self.layer(x).squeeze(-1) - labels).square().mean()}

torch.manual_seed(0)
data = [{"x": torch.randn(8), "labels": torch.tensor(1.0)} for _ in range(64)]
arguments = TrainingArguments(
    "out", num_train_epochs=3, per_device_train_batch_size=8, logging_steps=4, eval_strategy="epoch", report_to=[],
    save_strategy="epoch", use_cpu=True, learning_rate=0.05, seed=0, prediction_loss_only=True)
Trainer(Tiny(), arguments, train_dataset=data, eval_dataset=data[:16]).train()
"""


def transformers_run() -> None:
    """transformers' Trainer: its state file, and the dicts and bars it prints."""
    files = folder("transformers")
    with tempfile.TemporaryDirectory() as place:
        child(TRANSFORMERS, Path(place), output=files / "train.log")
        states = sorted(Path(place).glob("out/checkpoint-*/trainer_state.json"), key=lambda p: p.stat().st_mtime)
        shutil.copy(states[-1], files)
    history = json.loads((files / "trainer_state.json").read_text())["log_history"]
    train = [(row["step"], row["loss"]) for row in history if "loss" in row]
    held = [(row["step"], row["eval_loss"]) for row in history if "eval_loss" in row]
    mean = re.search(r"'train_loss': '([0-9.]+)'", (files / "train.log").read_text())[1]
    printed = [
        {**series("train.log", "train/loss", _printed(history, "loss"), "epoch"), "original": "loss"},
        {**series("train.log", "train/loss", [(3.0, float(mean))], "epoch"), "original": "train_loss"},
        series("train.log", "val/loss", _printed(history, "eval_loss"), "epoch"),
    ]
    expect(
        "transformers", "transformers 5.22.2 Trainer",
        [series("trainer_state.json", "train/loss", train), series("trainer_state.json", "val/loss", held), *printed],
    )  # fmt: skip


def _printed(history: list[dict], key: str) -> list[tuple[float, float]]:
    """By epoch, with the four digits that the Trainer prints."""
    return [(row["epoch"], float(f"{row[key]:.4g}")) for row in history if key in row]


SB3 = """
import gymnasium
from stable_baselines3 import PPO
from stable_baselines3.common.logger import configure
model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=2, seed=0, device="cpu")
model.set_logger(configure("log", ["stdout", "csv", "json", "tensorboard"]))
model.learn(64 * 6)
"""


def stable_baselines() -> None:
    """Stable-Baselines3: the boxes it prints, progress.csv, progress.json and event file."""
    import csv

    files = folder("stable-baselines3")
    with tempfile.TemporaryDirectory() as place:
        child(SB3, Path(place), output=files / "stdout.log")
        shutil.copy(Path(place) / "log" / "progress.csv", files)
        shutil.copy(Path(place) / "log" / "progress.json", files)
        (events,) = Path(place).glob("log/events*")
        shutil.copy(events, files / "events.out.tfevents.1700000000.host.1.0")
    with (files / "progress.csv").open() as handle:
        rows = [row for row in csv.DictReader(handle) if row["train/loss"]]
    points = [(int(row["time/total_timesteps"]), float(row["train/loss"])) for row in rows]
    sources = ("progress.csv", "progress.json", "events.out.tfevents.1700000000.host.1.0")
    rounded = [(step, float(f"{value:.3g}")) for step, value in points]
    expect(
        "stable-baselines3",
        "stable-baselines3 2.9.2",
        [*(series(source, "train/loss", points) for source in sources), series("stdout.log", "train/loss", rounded)],
    )


SAMPLES = (
    torch_tensorboard, hparams_tensorboard, wandb_offline, mlflow_stores, trackio_store, sacred_files, hydra_run,
    lightning_run, transformers_run, stable_baselines,
)  # fmt: skip


def main() -> None:
    """Write the named samples, or all."""
    wanted = set(sys.argv[1:])
    for sample in SAMPLES:
        if not wanted or sample.__name__ in wanted:
            print(sample.__name__)
            sample()


if __name__ == "__main__":
    main()
