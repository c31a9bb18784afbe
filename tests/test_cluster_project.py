"""A graph project on a cluster: SLURM, Lightning, Prefect and W&B around one run, and a profile of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx import diagnose
from traindx.api import gather_context

PROFILE = """---
layout:
  logs: slurm_logs/<jobid>-<name>.{out,err}
  runs: experimentruns/{dataset}/{model_type}_{scale}_{stage}
  config: config.json of the run, resolved by config/resolver.py
invariants:
  node_feature_count: 11
  edge_feature_count: 11
---
Every node has 11 features. A shape that says otherwise comes from preprocessing.
"""
MODEL = """import torch
from torch import nn


class GAT(nn.Module):
    def __init__(self, node_features=11, hidden=64):
        super().__init__()
        self.lin_in = nn.Linear(node_features, hidden)
        self.lin_out = nn.Linear(hidden, 2)

    def forward(self, data):
        x = self.lin_in(data.x)
        return self.lin_out(torch.relu(x))
"""
STAGE = """import pytorch_lightning as pl

from src.models.gat import GAT


def train_gat(cfg, datamodule):
    module = GAT(cfg.gat.node_features, cfg.gat.hidden)
    trainer = pl.Trainer(max_epochs=cfg.epochs)
    trainer.fit(module, datamodule)
"""
FLOW = """09:14:02.118 | INFO    | prefect.engine - Created flow run 'amber-lynx' for flow 'train-flow'
wandb: W&B syncing is set to `offline` in this directory.
GPU available: True (cuda), used: True
09:16:40.422 | ERROR   | Task run 'train_gat-0' - Encountered exception during execution:
Traceback (most recent call last):
  File "/env/lib/python3.11/site-packages/prefect/engine.py", line 2121, in orchestrate_task_run
    result = await call.aresult()
  File "/users/ab/project/pipeline/stages/training.py", line 9, in train_gat
    trainer.fit(module, datamodule)
  File "/env/lib/python3.11/site-packages/pytorch_lightning/trainer/trainer.py", line 538, in fit
    call._call_and_handle_interrupt(
{frames}{error}
09:16:41.020 | ERROR   | Task run 'train_gat-0' - Finished in state Failed('Task run encountered an exception')
09:16:41.511 | ERROR   | Flow run 'amber-lynx' - Finished in state Failed('Flow run encountered an exception.')
srun: error: p0231: task 0: Exited with exit code 1
"""
IN_MODEL = """  File "/users/ab/project/src/models/gat.py", line 12, in forward
    x = self.lin_in(data.x)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        ".traindx/project.md": PROFILE,
        "src/models/gat.py": MODEL,
        "pipeline/stages/training.py": STAGE,
        "experimentruns/set_01/gat_large_train/config.json": '{"gat": {"node_features": 11, "hidden": 64}}',
        "wandb/offline-run-20260101_000000-abc/files/requirements.txt": "torch==2.4.0\n",
        "slurm_logs/48213-gat.out": "resolve('gat', 'large', dataset='set_01')\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def failed(project: Path, error: str, frames: str = "") -> Path:
    (project / "slurm_logs/48213-gat.err").write_text(FLOW.format(error=error, frames=frames))
    return project


def test_a_width_against_the_profile_is_the_datas_fault(project: Path) -> None:
    error = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4096x9 and 11x64)"
    found = diagnose(failed(project, error, IN_MODEL), "gat training failed on the cluster", brain="local")
    cause = found.root_causes[0]
    assert cause.id == "shape-mismatch"
    assert "expects 11 features and gets 9" in cause.issue
    assert "node_feature_count: 11" in cause.fix.summary
    assert {
        ("src/models/gat.py", "line 12"),
        ("src/models/gat.py", "line 8"),
        ("pipeline/stages/training.py", "line 9"),
    } <= {(piece.source, piece.locator) for piece in cause.evidence if piece.verified}
    assert error in found.sections["Error Summary"]


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("FileNotFoundError: [Errno 2] No such file or directory: 'runs/vgae/best_model.pt'", "missing-file"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "cuda-out-of-memory"),
        ("pydantic_core._pydantic_core.ValidationError: 1 validation error for PipelineConfig", "config-error"),
        (
            "distributed.scheduler.KilledWorker: Attempted to run task train on 3 different workers\n"
            "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0",
            "host-out-of-memory",
        ),
    ],
)
def test_other_failures_of_the_pipeline_are_named_through_its_layers(project: Path, error: str, cause: str) -> None:
    found = diagnose(failed(project, error), "the flow failed", brain="local")
    assert found.root_causes[0].id == cause


def test_what_is_missing_is_said(project: Path) -> None:
    context = gather_context(project)
    assert context.project is not None
    assert context.project.facts["invariants"] == {"node_feature_count": 11, "edge_feature_count": 11}
    assert any("no loss series" in row for row in context.missing)
