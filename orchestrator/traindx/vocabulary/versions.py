"""Which versions of packages belong together, as their publishers say."""

from __future__ import annotations

import re

Version = tuple[int, ...]

_NUMBERS = re.compile(r"\d+")
_OLDER_VISION = {7: 8, 8: 9, 9: 10, 10: 11, 11: 12, 12: 13, 13: 14}
"""torch 1.x -> torchvision 0.y"""
PYTHON_NEEDS_TORCH: dict[Version, Version] = {(3, 11): (2, 0), (3, 12): (2, 2), (3, 13): (2, 5)}
"""the first torch that has wheels for a Python"""
NUMPY_2: dict[str, Version] = {
    "torch": (2, 3),
    "tensorflow": (2, 18),
    "numba": (0, 60),
    "scipy": (1, 13),
    "pandas": (2, 2, 2),
    "scikit-learn": (1, 4, 2),
    "matplotlib": (3, 8, 4),
    "opencv-python": (4, 10),
}
"""the first version of each that runs with NumPy 2; older binaries were built for NumPy 1"""


def parse_version(text: str) -> Version | None:
    """The numbers of a version: `2.1.0+cu121` is (2, 1, 0); None for ranges, addresses and words."""
    if not text[:1].isdigit():
        return None
    found = tuple(int(number) for number in _NUMBERS.findall(text.partition("+")[0])[:3])
    return found or None


def build_of(text: str) -> str:
    """The build tag of a version: `cpu`, `cu121`, `rocm6.0`; empty where it has none."""
    return text.partition("+")[2].strip().lower()


def vision_for(torch: Version) -> Version | None:
    """The torchvision that is built for a torch."""
    if len(torch) < 2:
        return None
    if torch[0] == 2:
        return (0, 15 + torch[1])
    return (0, _OLDER_VISION[torch[1]]) if torch[0] == 1 and torch[1] in _OLDER_VISION else None


def audio_for(torch: Version) -> Version | None:
    """The torchaudio that is built for a torch."""
    if len(torch) < 2:
        return None
    return torch[:2] if torch[0] == 2 else (0, torch[1]) if torch[0] == 1 and torch[1] >= 7 else None


def cuda_of(build: str) -> Version | None:
    """The CUDA of a build tag: `cu121` is (12, 1)."""
    digits = build.removeprefix("cu")
    if build == digits or not digits.isdecimal() or len(digits) not in {2, 3}:
        return None
    return (int(digits[:-1]), int(digits[-1]))
