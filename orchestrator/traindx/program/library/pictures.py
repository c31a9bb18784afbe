"""Pictures that are read from files: pixels of 0 to 255 until something scales them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from traindx.program.values import Made, Tensor, Value

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

_READING = frozenset(["cv2.imread", "cv2.imdecode", "imageio.imread", "imageio.v2.imread", "imageio.v3.imread",
                      "skimage.io.imread", "torchvision.io.read_image", "torchvision.io.decode_image"])  # fmt: skip
_KEEPING = frozenset(["resize", "cvtColor", "flip", "rotate", "GaussianBlur", "copyMakeBorder", "warpAffine",
                      "medianBlur", "blur"])  # fmt: skip
_OF_A_PICTURE = frozenset(["convert", "resize", "crop", "rotate", "transpose", "copy", "thumbnail"])


def call(m: Machine, full: str, last: str, call: Call) -> Value | None:
    """A function that reads a picture, or makes another one of it."""
    place = m.place(call.node)
    if full in _READING:
        return Tensor(dtype="uint8", marks=frozenset({"pixels"}), origin=frozenset({id(call.node)}), made=place)
    if full == "PIL.Image.open":
        return Made(kind="picture", place=place)
    given = call.args[0] if call.args else None
    if full.startswith("cv2.") and last in _KEEPING and isinstance(given, Tensor):
        return given.but(shape=None)
    if full in {"numpy.array", "numpy.asarray"} and isinstance(given, Made) and given.kind == "picture":
        return Tensor(dtype="uint8", marks=frozenset({"pixels"}), origin=frozenset({given.number}), made=place)
    return None


def method(m: Machine, owner: Made, name: str, call: Call) -> Value | None:
    """A method of a picture."""
    return owner if owner.kind == "picture" and name in _OF_A_PICTURE else None
