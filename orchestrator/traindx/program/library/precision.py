"""In which precision a context computes."""

from __future__ import annotations

from traindx.program.values import Library, Made, Plain, Value, text

_ON = frozenset({"constant", "omitted", "default"})


def is_half(context: Made) -> bool:
    """Whether an autocast context computes in float16, unless somebody changes a default."""
    kind = text(context.args[0] if context.args else context.keywords.get("device_type"))
    on = context.keywords.get("enabled", context.args[2] if len(context.args) > 2 else None)
    if on is not None and not (isinstance(on, Plain) and on.value is True and on.sure in _ON):
        return False
    dtype: Value | None = context.keywords.get("dtype", context.args[1] if len(context.args) > 1 else None)
    if isinstance(dtype, Library):
        return dtype.name.endswith((".float16", ".half"))
    return dtype is None and (kind == "cuda" or (not kind and not context.args))
