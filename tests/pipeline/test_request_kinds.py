"""A message lands on the right kind, and the right specialist leads."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from traindx.pipeline.request import understand


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLE = _load("request_messages")


@pytest.mark.parametrize(("message", "kinds", "lead"), TABLE.MESSAGES)
def test_a_message_is_understood(message: str, kinds: str, lead: str) -> None:
    request = understand(message)
    assert request.kind in kinds.split(), request.reason
    assert request.ranking[0].specialist == lead, request.ranking
    assert request.about_training


@pytest.mark.parametrize("message", TABLE.ELSEWHERE)
def test_other_requests_are_turned_away_with_a_word_on_what_traindx_is_for(message: str) -> None:
    request = understand(message)
    assert (request.kind, request.about_training) == ("not-about-training", False)
    assert "training run" in request.reason
    assert request.ranking
