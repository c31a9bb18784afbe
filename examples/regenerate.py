"""Run the examples' trainings again, so that every log in this folder is one that a real training left.

    python examples/regenerate.py

The trainings are seeded, run on one thread and write neither times nor paths: on one machine the files
come out the same every time.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
FULL_RUNS = ("schedule-change", "schedule-change-healthy")
EPOCHS_BEFORE_THE_KILL = 2


def train(folder: Path) -> None:
    """Run the folder's training to its end."""
    subprocess.run([sys.executable, str(folder / "train.py")], check=True)


def interrupted_log(source: Path, epochs_planned: int) -> str:
    """What `train.log` holds when the training is killed early in a long run."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        shutil.copy(source / "train.py", folder)
        config = (source / "config.yaml").read_text().replace("epochs: 12", f"epochs: {epochs_planned}")
        (folder / "config.yaml").write_text(config)
        log = folder / "train.log"
        training = subprocess.Popen([sys.executable, str(folder / "train.py")])
        try:
            while not log.exists() or log.read_text().count(": epoch ") < EPOCHS_BEFORE_THE_KILL:
                if training.poll() is not None:
                    raise RuntimeError(f"the training ended by itself with code {training.returncode}")
                time.sleep(0.05)
        finally:
            training.kill()
            training.wait()
        lines = log.read_text().splitlines(keepends=True)
    # The kill lands at no exact epoch; what the next one may have added is cut off.
    seen = [number for number, line in enumerate(lines) if ": epoch " in line]
    return "".join(lines[: seen[EPOCHS_BEFORE_THE_KILL - 1] + 1])


def main() -> None:
    """Bring every example up to date."""
    script = HERE / "schedule-change" / "train.py"
    shutil.copy(script, HERE / "schedule-change-healthy" / "train.py")
    for name in FULL_RUNS:
        print(f"training {name}")
        train(HERE / name)
    print("training poor-folder")
    log = interrupted_log(HERE / "schedule-change-healthy", epochs_planned=60)
    (HERE / "poor-folder" / "train.log").write_text(log)


if __name__ == "__main__":
    main()
