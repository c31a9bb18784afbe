"""How fast programs are followed and reviewed, against `ast.parse` alone: `python benchmarks/review.py [FOLDER]`."""

import ast
import sys
import time
from pathlib import Path

from traindx.program.analysis import analyse_all
from traindx.program.rules import review
from traindx.readers import Run, Scope

CORPUS = Path(__file__).parent / "corpus"


def main(folders: list[Path]) -> None:
    """Review every folder that holds Python, and print lines per second."""
    lines, parsed, followed, found = 0, 0.0, 0.0, 0
    for folder in folders:
        units = Run(Scope.of(folder)).code
        texts = [unit.notebook.code if unit.notebook else unit.text for unit in units]
        lines += sum(text.count("\n") for text in texts)
        began = time.perf_counter()
        for text in texts:
            ast.parse(text)
        parsed += time.perf_counter() - began
        began = time.perf_counter()
        found += sum(finding.proven for finding in review(*analyse_all(units)))
        followed += time.perf_counter() - began
    print(f"{lines:,} lines, {found} proven findings")
    print(f"ast.parse alone   {lines / max(parsed, 1e-9):>12,.0f} lines/s")
    print(f"followed, reviewed{lines / max(followed, 1e-9):>12,.0f} lines/s")


if __name__ == "__main__":
    given = [Path(word) for word in sys.argv[1:]]
    main(given or sorted(path.parent / "run" for path in CORPUS.glob("*/truth.yaml")))
