"""Labelled failure logs of another project, judged by `traindx` and by that project's own classifier, side by side.

    python benchmarks/failure_logs.py FOLDER

FOLDER is a checkout of the public set `Parv-01/gpualert-eval` (474 logs, 15 classes, MIT); `pip install gpualert` gives
the classifier. Both get the same: the log and the exit code, which a user of `traindx` would type as a message.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from traindx import diagnose

# Written down before the set was run: which of our causes is a right answer to which of its classes.
RIGHT = {
    "cuda_oom": {"cuda-out-of-memory"},
    "nccl": {"nccl-timeout", "rank-divergence", "straggler-rank", "rendezvous-failure"},
    "cuda_runtime": {"cuda-device-assert", "label-out-of-range", "cuda-environment", "gpu-hardware-fault"},
    "ram_oom": {"host-out-of-memory"},
    "oom_killer": {"host-out-of-memory"},
    "segfault": {"native-crash"},
    "file_not_found": {"missing-file"},
    "permission": {"permission-denied"},
    "missing_module": {"missing-dependency"},
    "div_zero": {"unhandled-exception", "unguarded-math"},
    "device_mismatch": {"device-mismatch"},
    "nan_loss": {
        "non-finite-loss",
        "unguarded-math",
        "non-finite-inputs",
        "learning-rate-too-high",
        "exploding-gradients",
        "mixed-precision-overflow",
    },
    "traceback": {"unhandled-exception", "config-error"},
    "assertion": {"unhandled-exception", "config-error", "shape-mismatch"},
    "runtime_error": {"unhandled-exception", "shape-mismatch", "dtype-mismatch"},
}


def main(folder: Path) -> None:
    """Print both scores, class by class, and what was named instead."""
    rows = [json.loads(line) for line in (folder / "corpus" / "labels.jsonl").read_text().splitlines()]
    theirs = _their_labels(folder)
    with ThreadPoolExecutor(2) as pool:
        named = list(pool.map(lambda row: _ours(folder / row["log_path"], row["true_exit_code"]), rows))
    ours_right: Counter[str] = Counter()
    theirs_right: Counter[str] = Counter()
    total = Counter(row["mode"] for row in rows)
    wrong: Counter[tuple[str, str]] = Counter()
    for row, name in zip(rows, named, strict=True):
        mode = row["mode"]
        ours_right[mode] += name in RIGHT[mode]
        theirs_right[mode] += (
            theirs((folder / row["log_path"]).read_text(errors="replace"), row["true_exit_code"]) == mode
        )
        if name not in RIGHT[mode]:
            wrong[mode, name] += 1
    print(f"{'class':18}{'logs':>6}{'traindx':>10}{'gpualert':>10}")
    for mode in sorted(total):
        print(f"{mode:18}{total[mode]:6}{ours_right[mode]:10}{theirs_right[mode]:10}")
    share = [sum(counts.values()) / total.total() for counts in (ours_right, theirs_right)]
    print(f"{'all':18}{total.total():6}{share[0]:10.1%}{share[1]:10.1%}")
    for (mode, name), count in wrong.most_common():
        print(f"  {mode}: {name} named {count} times")


def _ours(log: Path, exit_code: int) -> str:
    """The first cause, or the status where none is named; the log stands alone in a folder, under a plain name."""
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "train.log").write_bytes(log.read_bytes())
        found = diagnose(place, f"The job ended with exit code {exit_code}.", brain="local")
    return found.root_causes[0].id if found.root_causes else found.status


def _their_labels(folder: Path):  # type: ignore[no-untyped-def]
    """Their classifier, through the names that their evaluation gives its labels."""
    sys.path.insert(0, str(folder))
    from eval.classes import LABEL_TO_MODE  # type: ignore[import-not-found]
    from gpualert.parse_errors import parse_errors  # type: ignore[import-not-found]

    def label(log: str, exit_code: int) -> str:
        said = parse_errors(stdout="", stderr=log, exit_code=exit_code or 0)
        return LABEL_TO_MODE.get(said.splitlines()[0].strip(), "generic") if said else "generic"

    return label


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1], "corpus", "labels.jsonl").is_file():
        sys.exit(print(__doc__))
    main(Path(sys.argv[1]))
