"""What torch's and numpy's own rebuilding functions would make of their arguments."""

from __future__ import annotations

import math
import struct
from dataclasses import replace

from traindx.readers.checkpoints.symbols import Blob, Global, Made, Row, Storage, Table, Tensor

ITEM_SIZES = {
    "float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint8": 1,
    "uint16": 2, "uint32": 4, "uint64": 8, "bool": 1, "complex32": 4, "complex64": 8, "complex128": 16, "qint8": 1,
    "quint8": 1, "qint32": 4, "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1,
    "float8_e8m0fnu": 1, "bytes": 1,
}  # fmt: skip
_STORAGES = {
    "Double": "float64", "Float": "float32", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64", "Int": "int32",
    "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool", "ComplexFloat": "complex64",
    "ComplexDouble": "complex128", "QInt8": "qint8", "QUInt8": "quint8", "QInt32": "qint32", "Untyped": "bytes",
}  # fmt: skip
_DICTS = {"collections.OrderedDict", "collections.defaultdict", "collections.Counter", "builtins.dict"}
_ROWS = {"builtins.set", "builtins.frozenset", "builtins.list", "builtins.tuple", "torch.Size", "collections.deque"}
_NUMPY_SCALARS = {
    "f8": "d", "f4": "f", "f2": "e", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u8": "Q", "u4": "I", "u2": "H",
    "u1": "B", "b1": "?",
}  # fmt: skip
_NUMPY_NAMES = {
    "f": "float", "i": "int", "u": "uint", "b": "bool", "c": "complex", "O": "object", "S": "bytes", "U": "str",
}  # fmt: skip
_MOST_DIMENSIONS = 64


def storage(persistent: object) -> object:
    """The storage that a persistent id `("storage", class, key, place, elements, …)` names."""
    items = persistent.items if isinstance(persistent, Row) else []
    if len(items) < 5 or items[0] != "storage":
        return Made("a persistent id", Row([persistent]))
    kind = items[1].name.rpartition(".")[2] if isinstance(items[1], Global) else ""
    kind = kind.removesuffix("Storage").lstrip("_")
    elements = items[4] if isinstance(items[4], int) and 0 <= items[4] < 1 << 62 else 0
    return Storage(
        _STORAGES.get(kind, kind.lower() or "unknown"),
        str(items[2])[:80] if isinstance(items[2], (str, int)) else "",
        elements,
    )


def rebuilt(name: str, arguments: Row) -> object | None:
    """The value that a known function returns for these arguments; None where it is not known."""
    given = arguments.items
    if name.startswith("torch._utils._rebuild_"):
        return _tensor(name.removeprefix("torch._utils._rebuild_"), given)
    if name == "torch._tensor._rebuild_from_type_v2" and len(given) >= 3:
        inner, parts = given[0], given[2]
        if isinstance(inner, Global) and isinstance(parts, Row) and inner.name != name:
            return rebuilt(inner.name, parts)
    if name in _DICTS:
        return _table(given)
    if name in _ROWS:
        inside = given[0] if given else None
        return Row(inside.items) if isinstance(inside, Row) else Row()
    if name == "_codecs.encode" and given and isinstance(given[0], (str, Blob)):
        return (
            given[0]
            if isinstance(given[0], Blob)
            else Blob(len(given[0]), given[0].encode("latin-1", errors="replace"))
        )
    if name in {"torch.device", "pathlib.PosixPath", "pathlib.Path", "pathlib.PurePosixPath", "pathlib.WindowsPath"}:
        return (":" if name == "torch.device" else "/").join(
            str(part) for part in given[:20] if isinstance(part, (str, int))
        )
    return _numpy(name, given) if name.startswith("numpy.") else None


def _table(given: list[object]) -> Table:
    # The items are shared, not copied: a pickle that makes a thousand dicts of one long list costs no more memory.
    inside = given[-1] if given else None
    return Table(inside.items) if isinstance(inside, Table) else Table(rows=inside if isinstance(inside, Row) else None)


def _tensor(how: str, given: list[object]) -> Tensor | None:
    if how in {"parameter", "parameter_with_state"}:
        inner = given[0] if given else None
        asked = given[1] if len(given) > 1 else None
        if not isinstance(inner, Tensor):
            return None
        return replace(inner, trainable=asked if isinstance(asked, bool) else None)
    if how in {"tensor", "tensor_v2", "tensor_v3", "qtensor"} and len(given) >= 4 and isinstance(given[0], Storage):
        dtype = _dtype(given[6]) if how == "tensor_v3" and len(given) > 6 else given[0].dtype
        offset = given[1] if isinstance(given[1], int) and 0 <= given[1] < 1 << 48 else 0
        return Tensor(sizes(given[2]), dtype, given[0], offset=offset, strides=sizes(given[3]))
    if how == "meta_tensor_no_storage" and len(given) >= 2:
        return Tensor(sizes(given[1]), _dtype(given[0]))
    if how == "wrapper_subclass" and len(given) >= 3:
        return Tensor(sizes(given[2]), _dtype(given[1]))
    if how.startswith("device_tensor_from") and given and isinstance(given[0], Tensor):
        return given[0]
    if how == "sparse_tensor":
        shapes = [sizes(part) for part in _inside(given) if isinstance(part, Row) and sizes(part)]
        values = [part for part in _inside(given) if isinstance(part, Tensor)]
        return Tensor(shapes[-1] if shapes else (), f"sparse {values[-1].dtype}" if values else "sparse")
    return None


def _inside(given: list[object]) -> list[object]:
    return given[1].items[:8] if len(given) > 1 and isinstance(given[1], Row) else []


def sizes(value: object) -> tuple[int, ...]:
    """The shape that a tuple of sizes gives; empty for what is none."""
    items = value.items if isinstance(value, Row) else []
    if len(items) > _MOST_DIMENSIONS:
        return ()
    whole = [size for size in items if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 1 << 48]
    return tuple(whole) if len(whole) == len(items) else ()


def _dtype(value: object) -> str:
    return value.name.rpartition(".")[2] if isinstance(value, Global) else "unknown"


def _numpy(name: str, given: list[object]) -> object | None:
    last = name.rpartition(".")[2]
    if last == "_reconstruct":
        return Tensor((), "numpy")
    if last == "scalar" and len(given) == 2:
        return _number(_numpy_code(given[0]), given[1])
    if last == "_frombuffer" and len(given) >= 3:
        return Tensor(sizes(given[2]), _numpy_name(_numpy_code(given[1])))
    return None


def set_numpy_state(array: Tensor, state: object) -> None:
    """Fill in an array from `(version, shape, dtype, order, bytes)`."""
    items = state.items if isinstance(state, Row) else []
    if len(items) == 5:
        array.shape, array.dtype = sizes(items[1]), _numpy_name(_numpy_code(items[2]))


def _numpy_code(dtype: object) -> str:
    """`f8` of `numpy.dtype("f8", False, True)`."""
    if isinstance(dtype, Made) and dtype.arguments.items and isinstance(dtype.arguments.items[0], str):
        return dtype.arguments.items[0].lstrip("<>|=")[:8]
    return ""


def _numpy_name(code: str) -> str:
    kind, size = code[:1], code[1:]
    if kind in "fiuc" and size.isdecimal() and kind:
        return f"{_NUMPY_NAMES[kind]}{int(size) * 8}"
    return _NUMPY_NAMES.get(kind, "numpy")


def _number(code: str, raw: object) -> object | None:
    letter = _NUMPY_SCALARS.get(code)
    if letter is None or not isinstance(raw, Blob) or len(raw.start) != struct.calcsize(letter):
        return None
    value = struct.unpack(f"<{letter}", raw.start)[0]
    return value if isinstance(value, (bool, int)) or not math.isnan(value) else math.nan
