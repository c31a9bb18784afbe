"""Large checkpoints, inspected: speed beside one plain pass over the file, the most memory, and a whole diagnosis.

Usage: python benchmarks/checkpoints.py [GIGABYTES]. Both passes take turns in one process, the file in the page cache;
the plain one reads into a buffer that it uses again.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from large_files import most_resident, timed

ROUNDS = 5
TENSORS = 16
BUFFER = 8 << 20


def write_safetensors(path: Path, size: int, dtype: str = "F32") -> int:
    """A file of random numbers; returns the bytes of its largest tensor."""
    import numpy as np

    each = size // TENSORS // 4096 * 4096
    width = 4 if dtype == "F32" else 2
    places = {f"layers.{n}.weight": [n * each, (n + 1) * each] for n in range(TENSORS)}
    header = json.dumps(
        {name: {"dtype": dtype, "shape": [each // width], "data_offsets": place} for name, place in places.items()}
    ).encode()
    header += b" " * (-len(header) % 8)
    block = np.random.default_rng(0).normal(0, 0.02, each // 4).astype(np.float32).tobytes()
    if dtype == "BF16":
        halves = np.frombuffer(block, np.uint16)[1::2]
        block = np.concatenate([halves, halves]).tobytes()
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for _ in range(TENSORS):
            file.write(block)
    return each


def write_torch(path: Path, size: int) -> int:
    """The same as torch saves it."""
    import torch

    each = size // TENSORS
    first = torch.randn(each // 4) * 0.02
    torch.save({f"layers.{n}.weight": first.clone() for n in range(TENSORS)}, path)
    return each


def inspected(folder: Path) -> None:
    """Look at a folder as the tool does."""
    from traindx.definitions.content import TOOLS
    from traindx.readers import Run, Scope
    from traindx.runtime.discovery import load_tool

    tool = load_tool("inspect_checkpoint", TOOLS / "inspect_checkpoint.py")
    tool(tool.input(), Run(Scope.of(folder)))


def plain(path: Path) -> None:
    """One pass of `read()` into a buffer."""
    buffer = memoryview(bytearray(BUFFER))
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def measure(folder: Path) -> None:
    """Both passes in turns, here."""
    (path,) = (one for one in folder.iterdir() if one.is_file())
    plain(path)
    inspected(folder)
    rounds = [(timed(lambda: plain(path)), timed(lambda: inspected(folder))) for _ in range(ROUNDS)]
    size = path.stat().st_size
    told = {
        "plain": size / min(one for one, _ in rounds) / 1e9,
        "ours": size / min(other for _, other in rounds) / 1e9,
        "ratio": statistics.median(one / other for one, other in rounds),
    }
    print(json.dumps(told))


def resident(folder: Path) -> None:
    """The most memory of one inspection, here."""
    inspected(folder)
    print(json.dumps(most_resident()))


def child(what: str, folder: Path) -> object:
    """The answer of this script in a process of its own."""
    done = subprocess.run([sys.executable, __file__, what, str(folder)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def diagnosed() -> None:
    """A run with a checkpoint of 100 MB, from the command to the answer."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_safetensors(folder / "model.safetensors", 100 << 20)
        lines = "\n".join(f"step {n} loss {2.3 - n / 1000:.4f}" for n in range(1, 500))
        (folder / "train.log").write_text(lines + "\n")
        command = [str(Path(sys.executable).with_name("traindx")), "diagnose", made, "-m", "is the checkpoint sound?"]
        seconds = min(timed(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(3))
    print(f"diagnosis with a checkpoint of 100 MB: {seconds:.2f} s (bound 5)")


def main() -> None:
    """Write each kind of file, measure it, remove it."""
    size = int(float(sys.argv[1] if len(sys.argv) > 1 else 4) * 1e9)
    writers = {
        "safetensors, float32": ("model.safetensors", lambda path: write_safetensors(path, size)),
        "safetensors, bfloat16": ("model.safetensors", lambda path: write_safetensors(path, size, "BF16")),
        "torch, float32": ("model.pt", lambda path: write_torch(path, size)),
    }
    for label, (name, write) in writers.items():
        with tempfile.TemporaryDirectory() as made:
            largest = write(Path(made) / name)
            told = child("measure", Path(made))
            most = child("resident", Path(made))
            assert isinstance(told, dict)
            bound = 1.5 * largest / 1e6 + 400
            print(
                f"{label:22} {size / 1e9:4.1f} GB  ours {told['ours']:5.2f} GB/s, plain {told['plain']:5.2f} GB/s,"
                f" ratio {told['ratio']:.2f} (bound 0.40)  {most:4.0f} MB resident (bound {bound:.0f})"
            )
    diagnosed()


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(Path(sys.argv[2]))
    elif sys.argv[1:2] == ["resident"]:
        resident(Path(sys.argv[2]))
    else:
        main()
