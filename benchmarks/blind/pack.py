"""Pack a batch of cases into `<folder>.tar.gz`, byte for byte the same for the same files.

Usage: python benchmarks/blind/pack.py FOLDER … Unpack one with `tar xzf`.
"""

import gzip
import sys
import tarfile
from pathlib import Path


def packed(folder: Path) -> Path:
    """Names are sorted; times, owners and modes are fixed."""
    target = folder.with_name(f"{folder.name}.tar.gz")
    with (
        target.open("wb") as file,
        gzip.GzipFile("", "wb", 9, file, mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                member = tarfile.TarInfo(path.relative_to(folder.parent).as_posix())
                member.size, member.mode = path.stat().st_size, 0o644
                with path.open("rb") as content:
                    archive.addfile(member, content)
    return target


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(packed(Path(name).resolve()))
