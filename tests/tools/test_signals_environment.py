"""Packages that do not fit each other, and accelerators that are not used."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.signal_case import Case, case, check, log, losses

ENVIRONMENT = "check_environment"


def pinned(*packages: str) -> dict[str, str]:
    return {"requirements.txt": "\n".join(packages) + "\n"}


def started(*lines: str) -> dict[str, str]:
    return log([*lines, *losses()])


SMI = "| NVIDIA-SMI 470.57.02    Driver Version: 470.57.02    CUDA Version: 11.4     |"
GPU = "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)"

CASES = [
    case(ENVIRONMENT, "a torchvision of another torch", pinned("torch==2.4.1", "torchvision==0.16.0"),
         "versions-apart"),
    case(ENVIRONMENT, "the torchvision of this torch", pinned("torch==2.4.1", "torchvision==0.19.1", "numpy==1.26.4"),
         silent="versions-apart build-without-gpu driver-older-than-build"),
    case(ENVIRONMENT, "ranges are no versions", pinned("torch>=2.4", "torchvision>=0.16"), silent="versions-apart"),
    case(ENVIRONMENT, "NumPy 2 and a torch for NumPy 1", pinned("torch==2.1.2", "numpy==2.0.1"), "versions-apart"),
    case(ENVIRONMENT, "NumPy 2 and a torch that knows it", pinned("torch==2.4.1", "numpy==2.0.1"),
         silent="versions-apart"),
    case(ENVIRONMENT, "a wheel for the CPU", pinned("torch==2.4.1+cpu"), "build-without-gpu"),
    case(ENVIRONMENT, "an old driver", {**started(SMI), **pinned("torch==2.4.1+cu121")}, "driver-older-than-build"),
    case(ENVIRONMENT, "a driver of the same major version", {**started(SMI), **pinned("torch==2.0.1+cu118")},
         silent="driver-older-than-build"),
    case(ENVIRONMENT, "asked for and not used", {
        **started("CUDA available: False", "Using device: cpu"), "config.yaml": "device: cuda\n"}, "gpu-asked-cpu-used",
         "gpu-there-cpu-used"),
    case(ENVIRONMENT, "asked for, and a default in the code says otherwise", {
        **started("param device cpu"), "config.yml": "hardware:\n  accelerator: cuda\n",
        "main.py": "import torch\nimport yaml\n\ncfg = yaml.safe_load(open('config.yml'))\n"
                   "device = torch.device(cfg.get('device', 'cpu'))\n"}, "gpu-asked-cpu-used"),
    case(ENVIRONMENT, "the program chooses the CPU", {
        **started(GPU, "param device cpu"), "main.py": "import torch\n\ndevice = torch.device('cpu')\n"},
         silent="gpu-asked-cpu-used gpu-there-cpu-used"),
    case(ENVIRONMENT, "jax without its CUDA build", started(
        "An NVIDIA GPU may be present, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.",
        "devices: [CpuDevice(id=0)]"), "gpu-there-cpu-used"),
    case(ENVIRONMENT, "there and not used", started(GPU, "Using device: cpu"), "gpu-there-cpu-used",
         "gpu-asked-cpu-used"),
    case(ENVIRONMENT, "the CPU by configuration", {**started(GPU, "Using device: cpu"), "config.yaml": "device: cpu\n"},
         silent="gpu-there-cpu-used gpu-asked-cpu-used"),
    case(ENVIRONMENT, "the optimizer alone is on the CPU", {
        **started(GPU, "offload_optimizer device: cpu", "model on cuda:0"), "config.yaml": "accelerator: gpu\n"},
         silent="gpu-there-cpu-used gpu-asked-cpu-used"),
    case(ENVIRONMENT, "used", {**started(GPU, "Using device: cuda:0"), "config.yaml": "device: cuda\n"},
         silent="gpu-there-cpu-used gpu-asked-cpu-used"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_signal(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
