"""Write the eight broken variants of `correct/train.py`, one mistake with the state each, and train them all.

python examples/frequency-lstm/make_variants.py
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
DETACH = "            h = h.detach()\n            c = c.detach()\n"
START = "        h = torch.zeros(1, 1, HIDDEN)\n        c = torch.zeros(1, 1, HIDDEN)\n"
INDENTED = START.replace("        ", "            ")
OUTER = START.replace("        ", "    ")
LOOP = "    for epoch in range(EPOCHS):\n"
STEP = "        for x, y in loader:\n"
VARIANTS = {
    "state-not-detached": [(DETACH, "")],
    "cell-state-not-detached": [("            c = c.detach()\n", "")],
    "detach-result-discarded": [(DETACH, "            h.detach()\n            c.detach()\n")],
    "retain-graph-workaround": [(DETACH, ""), ("loss.backward()", "loss.backward(retain_graph=True)")],
    "state-detached-too-early": [("head(out[:, -1])", "head(h.detach()[-1])")],
    "state-reset-every-step": [(START, ""), (STEP, STEP + INDENTED)],
    "state-never-reset": [(START, ""), (LOOP, OUTER + LOOP)],
    "state-with-shuffled-batches": [("shuffle=False", "shuffle=True")],
}


def main() -> None:
    """Write, train, and keep the logs."""
    base = (HERE / "correct" / "train.py").read_text()
    for name, changes in VARIANTS.items():
        text = base
        for old, new in changes:
            if old not in text:
                raise SystemExit(f"{name}: `{old.strip()}` is not in the script")
            text = text.replace(old, new)
        (HERE / name).mkdir(exist_ok=True)
        (HERE / name / "train.py").write_text(text)
    for name in ("correct", *VARIANTS):
        done = subprocess.run([sys.executable, str(HERE / name / "train.py")], check=False)
        print(name, done.returncode)


if __name__ == "__main__":
    main()
