"""How fast output passes through `traindx run`, beside `tee` and `script`, and that none of it is lost.

    python benchmarks/run_output.py [--megabytes 2000]

The command writes zeros as fast as it can, or a tenth as many megabytes of lines of a training log.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BASH = shutil.which("bash") or "/bin/bash"
LINES = (
    "import sys\n"
    "rows = ''.join(f'step {n} loss {2 / (n + 1):.6f} lr 0.001\\n' for n in range(40000))\n"
    "for _ in range(int(sys.argv[1]) * 1000000 // len(rows)): sys.stdout.write(rows)\n"
)


def seconds(command: str, folder: Path) -> float:
    """How long a shell command takes whose output a pipe swallows."""
    began = time.perf_counter()
    subprocess.run([BASH, "-c", f"set -o pipefail; {command} | cat > /dev/null"], cwd=folder, check=True)
    return time.perf_counter() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1000)
    size = parser.parse_args().megabytes
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "lines.py").write_text(LINES)
        python = shlex.quote(sys.executable)
        sources = {
            "one stream of bytes": (f"head -c {size}000000 /dev/zero", size * 1_000_000),
            "lines of a log": (f"{python} lines.py {size // 10}", 0),
        }
        print(f"{'':22} {'alone':>12} {'tee':>12} {'script':>12} {'traindx run':>12}   MB/s")
        for label, (source, expected) in sources.items():
            ours = f"{python} -m traindx run -q --no-diagnosis --folder kept -- {source}"
            ways = {"alone": source, "tee": f"{source} | tee copy", "traindx run": ours}
            if shutil.which("script"):
                ways["script"] = f"script -qefc {shlex.quote(source)} copy"
            rates = {}
            for way, command in ways.items():
                megabytes = size if expected else size // 10
                rates[way] = f"{megabytes / seconds(command, folder):.0f}"
            row = " ".join(f"{rates.get(way, '-'):>12}" for way in ("alone", "tee", "script", "traindx run"))
            kept, wanted = (folder / "kept/stdout.log").stat().st_size, expected or _size(source, folder)
            print(f"{label:22} {row}   {'all of it kept' if kept == wanted else f'{kept:,} of {wanted:,} bytes kept'}")
            shutil.rmtree(folder / "kept")


def _size(source: str, folder: Path) -> int:
    counted = subprocess.run([BASH, "-c", f"{source} | wc -c"], cwd=folder, check=True, capture_output=True)
    return int(counted.stdout)


if __name__ == "__main__":
    main()
