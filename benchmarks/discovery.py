"""Finding the files of a run among very many: 100,000 files in a tree, and a million in one folder.

Usage: python benchmarks/discovery.py [files in one folder]. The bars: under 2 s, and a few seconds.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

from traindx.readers import Run, Scope


def touch(folder: Path, names: list[str]) -> None:
    """Make empty files."""
    folder.mkdir(parents=True, exist_ok=True)
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    for name in names:
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def tree(root: Path) -> None:
    """A run with checkpoints, data and logs in 100 folders, and a virtual environment beside it."""
    for k in range(100):
        touch(root / f"exp{k:03d}", [f"sample_{n:05d}.png" for n in range(700)] + [f"ckpt_{n}.pt" for n in range(280)])
        for n in range(20):
            (root / f"exp{k:03d}" / f"log_{n}.txt").write_text("step 1 loss 2.0\nstep 2 loss 1.0\n")
    touch(root / "venv" / "lib" / "site-packages", [f"m{n}.py" for n in range(5_000)])
    (root / "venv" / "pyvenv.cfg").write_text("home = /usr\n")
    (root / "train.log").write_text("step 1 loss 2.0\n")


def timed(root: Path, label: str) -> None:
    """Discover twice; the first time the directory may not be in the kernel's cache."""
    times = []
    for _ in range(3):
        began = time.perf_counter()
        run = Run(Scope.of(root))
        found = run.files
        times.append(time.perf_counter() - began)
    assert any(file.path == "train.log" and file.role == "log" for file in found)
    print(f"{label:28} {min(times):6.2f} s best of {len(times)}, {max(times):6.2f} s worst, {len(found):,} files taken")
    for remark in run.remarks:
        print(f"    {remark}")


def main() -> None:
    """Print one row a folder."""
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        tree(root / "tree")
        timed(root / "tree", "100,000 files in 100 folders")
        touch(root / "flat", [f"img_{n:07d}.jpg" for n in range(many)])
        (root / "flat" / "train.log").write_text("step 1 loss 2.0\n")
        timed(root / "flat", f"{many:,} files in one folder")


if __name__ == "__main__":
    main()
