"""The health of a recurrent state: how large it is, how uneven over its samples, and whether it still holds numbers."""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, NamedTuple

import torch

from traindx.monitor.native.library import TOLD, state_measure
from traindx.monitor.states import parts_of

if TYPE_CHECKING:
    from torch import Tensor

    from traindx.monitor.native.library import Measure
    from traindx.monitor.states import Parts, State

_LAYERED = 3
"""dimensions of (layers, batch, width)"""
_Told = ctypes.c_double * TOLD
_IN_PLACE = (torch.float32, torch.float64)
_vector_norm = torch.linalg.vector_norm


class LstmHealth(NamedTuple):
    """Norms and extremes of h and c; those of c are None for a state without a cell (GRU, RNN)."""

    h_norm: float
    c_norm: float | None
    h_max: float
    """the largest magnitude of a single number"""
    c_max: float | None
    has_nan: bool
    has_inf: bool
    h_rms: float
    """the norm over the root of how many numbers there are: it does not grow with batch, width and layers"""
    c_rms: float | None
    h_sample_max: float
    """the largest norm that the state of one sample of the batch has"""
    h_sample_min: float
    c_sample_max: float | None
    c_sample_min: float | None


def compute_lstm_health(hidden: State) -> LstmHealth | None:
    """The health of a state; None where there is none, or where it holds no numbers.

    A device is waited for once. Inside `torch.compile` the reading is a graph break; `measure_lstm_health` has none.
    """
    if torch.compiler.is_compiling():
        measured = measure_lstm_health(hidden)
        return None if measured is None else read_lstm_health(measured.tolist(), hidden)
    parts = _filled(parts_of(hidden))
    if not parts.hidden:
        return None
    native = state_measure()
    told = None if native is None else _told_of(parts, native)
    return _health(_measured(parts).tolist() if told is None else told, parts)


def measure_lstm_health(hidden: State) -> Tensor | None:
    """What `read_lstm_health` reads, as a tensor that stays on its device and can be fetched with others."""
    parts = _filled(parts_of(hidden))
    return _measured(parts) if parts.hidden else None


def read_lstm_health(measured: list[float], hidden: State) -> LstmHealth:
    """The health that the numbers of a measured state tell; the state says how many there were."""
    return _health(measured, _filled(parts_of(hidden)))


def _filled(parts: Parts) -> Parts:
    """The parts; a cell without a hidden state counts as one."""
    return parts if parts.hidden else parts._replace(hidden=parts.cell, cell=[])


def _health(told: list[float], parts: Parts) -> LstmHealth:
    h_norm, h_max, h_largest, h_smallest, h_inf = told[:TOLD]
    h_rms = h_norm / _root_of_count(parts.hidden)
    if not parts.cell:
        has_nan, has_inf = math.isnan(h_max), h_inf > 0
        return LstmHealth(h_norm, None, h_max, None, has_nan, has_inf, h_rms, None, h_largest, h_smallest, None, None)
    c_norm, c_max, c_largest, c_smallest, c_inf = told[TOLD:]
    return LstmHealth(
        h_norm,
        c_norm,
        h_max,
        c_max,
        math.isnan(h_max) or math.isnan(c_max),
        h_inf > 0 or c_inf > 0,
        h_rms,
        c_norm / _root_of_count(parts.cell),
        h_largest,
        h_smallest,
        c_largest,
        c_smallest,
    )


def _root_of_count(part: list[Tensor]) -> float:
    return math.sqrt(part[0].numel() if len(part) == 1 else sum(one.numel() for one in part))


def _whole(part: list[Tensor]) -> Tensor | None:
    """A part as one tensor; None where its layers differ in form."""
    first = part[0]
    if len(part) == 1:
        return first
    alike = all(one.shape == first.shape and one.dtype == first.dtype and one.device == first.device for one in part)
    if not alike:
        return None
    return torch.cat(part) if first.dim() == _LAYERED else torch.stack(part).flatten(0, -_LAYERED)


def _told_of(parts: Parts, native: Measure) -> list[float] | None:
    """What the compiled measure tells of the parts; None where they are on a device, or their layers differ."""
    told: list[float] = []
    for part in parts:
        if part:
            whole = _whole(part)
            if whole is None or not whole.is_cpu:
                return None
            told += _told(native, whole)
    return told


def _told(native: Measure, whole: Tensor) -> list[float]:
    if whole.dtype not in _IN_PLACE or not whole.is_contiguous():
        whole = whole.to(torch.promote_types(whole.dtype, torch.float32)).contiguous()
    told = _Told()
    layers, samples, width = _form(whole)
    native(whole.data_ptr(), layers, samples, width, whole.dtype is torch.float64, ctypes.addressof(told))
    return told[:]


def _form(tensor: Tensor) -> tuple[int, int, int]:
    """Layers, samples and numbers of each: (layers, batch, width), (batch, width), (width) or (batch, …)."""
    shape = tensor.shape
    if len(shape) == _LAYERED:
        return shape[0], shape[1], shape[2]
    samples = shape[0] if len(shape) > 1 else 1
    return 1, samples, tensor.numel() // samples


def _measured(parts: Parts) -> Tensor:
    """The same on any device, without waiting for it, and within a compiled graph."""
    with torch.no_grad() if torch.compiler.is_compiling() else torch.inference_mode():
        home = parts.hidden[0].device
        return torch.cat([_of_part(part).to(home) for part in parts if part])


def _of_part(part: list[Tensor]) -> Tensor:
    # Sums run in single precision at least, over numbers that are no larger than one: no square leaves the range.
    home, wide = part[0].device, torch.promote_types(part[0].dtype, torch.float32)
    blocks = [one.reshape(_form(one)) for one in part]
    top = torch.stack([one.abs().amax().to(home, wide) for one in blocks]).amax()
    unit = torch.where(torch.isfinite(top) & (top > 0), top, 1.0)
    rows = [_vector_norm(one.to(wide) / unit.to(one.device), dim=-1) for one in blocks]
    samples = [_vector_norm(one, dim=0).to(home) for one in rows]
    infinite = torch.stack([torch.isinf(one).any().to(home) for one in blocks]).any()
    # Layers that have the same samples share the norm of each.
    alike = all(one.shape == samples[0].shape for one in samples)
    each = _vector_norm(torch.stack(samples), dim=0) if alike else torch.cat(samples)
    norms = torch.stack((_vector_norm(each), each.amax(), each.amin())) * unit
    return torch.stack((norms[0], top, norms[1], norms[2], infinite.to(wide)))
