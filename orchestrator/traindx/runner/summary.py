"""The summary of a run: what was started, where, when, with what, and how it ended. Secrets are masked."""

from __future__ import annotations

import datetime
import json
import os
import platform
import shlex
import shutil
import signal
import socket
from collections.abc import Sequence
from pathlib import Path

from traindx.definitions.version import __version__
from traindx.pipeline.outputs import write_file
from traindx.redaction import Redactor

Entry = str | int | float | bool | None | dict[str, str] | list[str]

VARIABLES = (
    "CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING", "CUBLAS_WORKSPACE_CONFIG", "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF", "PYTHONHASHSEED", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NCCL_DEBUG",
    "TORCH_DISTRIBUTED_DEBUG", "RANK", "LOCAL_RANK", "GROUP_RANK", "NODE_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE",
    "MASTER_ADDR", "MASTER_PORT", "SLURM_JOB_ID", "SLURM_JOB_NAME", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_NNODES",
    "SLURM_NODELIST", "SLURM_RESTART_COUNT", "CONDA_DEFAULT_ENV", "VIRTUAL_ENV",
)  # fmt: skip
"""the only variables of the environment that are stored"""
PACKAGES = frozenset({
    "torch", "numpy", "transformers", "accelerate", "lightning", "pytorch_lightning", "deepspeed", "datasets", "peft",
    "trl", "tensorflow", "keras", "jax", "jaxlib", "flax", "stable_baselines3", "sb3_contrib", "gymnasium", "xformers",
    "flash_attn", "bitsandbytes", "triton", "wandb", "tensorboard", "scikit_learn", "xgboost", "lightgbm",
})  # fmt: skip
"""packages whose versions a diagnosis may need"""


class Summary:
    """Written when the command starts, without an end, and again when it has ended."""

    def __init__(self, file: Path, command: Sequence[str], continues: bool) -> None:
        self._file = file
        self._masked = Redactor()
        self.command = self._masked.clean(shlex.join(command))
        variables = {name: os.environ[name] for name in VARIABLES if name in os.environ}
        executable = shutil.which(command[0]) or ""
        self._entries: dict[str, Entry] = {
            "command": self.command,
            "cwd": str(Path.cwd()),
            "host": socket.gethostname(),
            "system": platform.platform(),
            "executable": executable,
            "packages": _packages(executable),
            "environment": self._masked.clean_json(variables),
            "traindx": __version__,
            "continues": continues,
            "start": _now(),
            "end": None,
            "exit_code": None,
            "signal": None,
        }
        self._began = datetime.datetime.now(datetime.timezone.utc)

    def write(self) -> None:
        """Write what is known by now; raises `UnwritableOutput`."""
        write_file(self._file, json.dumps(self._entries, indent=2) + "\n")

    def ended(self, status: int, held: Sequence[str], lost: int) -> str:
        """Take in how it ended; the line that says so, in words that the readers of errors know."""
        lasted = datetime.datetime.now(datetime.timezone.utc) - self._began
        name = signal_name(-status) if status < 0 else None
        code = shell_code(status)
        told: dict[str, Entry] = {"still_held": list(held)} if held else {}
        told |= {"bytes_not_kept": lost} if lost else {}
        self._entries |= {"end": _now(), "seconds": round(lasted.total_seconds(), 1), "exit_code": code, "signal": name}
        self._entries |= told
        why = f" (killed by signal {-status}, {name})" if name else ""
        return f"traindx run: exited with code {code}{why}"


def shell_code(status: int) -> int:
    """The exit code of a process as a shell shows it: 128 and the number for one that a signal killed."""
    return 128 - status if status < 0 else status


def signal_name(number: int) -> str:
    """`SIGKILL` for 9."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).astimezone().isoformat(timespec="seconds")


def _packages(executable: str) -> dict[str, str]:
    """The versions installed beside the interpreter of the command, by the names of folders: nothing is run."""
    if "python" not in Path(executable).name:
        return {}
    found = {}
    for installed in sorted(Path(executable).parent.parent.glob("lib/python3*/site-packages/*.dist-info")):
        name, _, version = installed.name.removesuffix(".dist-info").partition("-")
        if name.lower() in PACKAGES:
            found[name] = version
    return found
