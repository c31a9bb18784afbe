"""How files begin: the first bytes of every format that is told apart by them."""

from __future__ import annotations

from typing import NamedTuple


class Magic(NamedTuple):
    """The first bytes of a format, its name, and what to call such a file to a person."""

    first: bytes
    name: str
    called: str


ZIP = b"PK\x03\x04"
GZIP = b"\x1f\x8b"
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
"""how the name of an archive that is unpacked ends"""
NUMPY = b"\x93NUMPY"
HDF5 = b"\x89HDF\r\n\x1a\n"
SQLITE = b"SQLite format 3\0"
WANDB = b":W&B"
LFS_POINTER = b"version https://git-lfs"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
PICKLES = tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6))
FLIGHT_RECORDER = (b"pg_config", b"entries", b"version")
"""keys of a dump of PyTorch's collectives (`TORCH_NCCL_DUMP_ON_TIMEOUT`), pickled or as JSON"""
PROFILER = ((b'"traceEvents"',), (b'"schemaVersion"', b'"deviceProperties"'))
"""keys of a trace that Chrome and Perfetto show"""

KNOWN = (
    Magic(ZIP, "zip", "a zip archive, as PyTorch checkpoints and .npz files are"),
    *(Magic(first, "pickle", "a pickle") for first in PICKLES),
    Magic(NUMPY, "npy", "a NumPy array"),
    Magic(HDF5, "hdf5", "an HDF5 file"),
    Magic(b"GGUF", "gguf", "a GGUF model"),
    Magic(WANDB, "wandb", "a Weights & Biases record"),
    Magic(b"\x89PNG", "picture", "a PNG image"),
    Magic(b"\xff\xd8\xff", "picture", "a JPEG image"),
    Magic(b"GIF8", "picture", "a GIF image"),
    Magic(b"%PDF", "pdf", "a PDF document"),
    Magic(GZIP, "gzip", "a gzip archive"),
    Magic(b"BZh", "bzip2", "a bzip2 archive"),
    Magic(b"\xfd7zXZ\x00", "xz", "an xz archive"),
    Magic(b"\x28\xb5\x2f\xfd", "zstd", "a zstd archive"),
    Magic(b"\x7fELF", "elf", "a program or shared library"),
    Magic(SQLITE, "sqlite", "an SQLite database"),
    Magic(b"PAR1", "parquet", "a Parquet file"),
    Magic(b"ARROW1", "arrow", "an Arrow file"),
    Magic(LFS_POINTER, "lfs-pointer", "a Git LFS pointer"),
)


def magic_of(head: bytes) -> Magic | None:
    """The format that begins like this."""
    return next((magic for magic in KNOWN if head.startswith(magic.first)), None)
