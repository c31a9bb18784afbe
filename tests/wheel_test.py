"""The wheel on an empty environment: build it, install it, run the demo from `/`. Run by `make wheel-test`."""

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONTENT = ("agents", "tools", "prompts", "examples", "skills", ".claude-plugin")


def run(*command: str, cwd: Path = ROOT) -> str:
    """The command's output; a failure ends the test with what it printed."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "ANTHROPIC", "VIRTUAL"))}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} exited with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def content_of(folder: Path) -> set[str]:
    """Every content file below a folder, by relative path."""
    return {
        str(path.relative_to(folder))
        for name in CONTENT
        for path in (folder / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def main() -> int:
    """Build, install, diagnose, compare."""
    with tempfile.TemporaryDirectory() as name:
        temp = Path(name)
        run(sys.executable, "-m", "build", "--wheel", "--outdir", str(temp / "dist"), str(ROOT))
        (wheel,) = (temp / "dist").glob("*.whl")
        venv.create(temp / "env", with_pip=True)
        python = temp / "env" / "bin" / "python"
        run(str(python), "-m", "pip", "-q", "install", "-c", str(ROOT / "constraints.txt"), str(wheel))
        demo = json.loads(run(str(temp / "env" / "bin" / "traindx"), "demo", "--json", cwd=Path("/")))
        first = demo["root_causes"][0]
        print(f"wheel: {wheel.name}; demo from /: {demo['status']}, {first['id']} at {first['confidence']}")
        assert demo["status"] == "diagnosis_complete", demo["status"]
        command = str(temp / "env" / "bin" / "traindx")
        picture = temp / "loss.png"
        run(command, "diagnose", str(ROOT / "examples" / "schedule-change"), "--plot", str(picture), cwd=Path("/"))
        assert picture.read_bytes().startswith(b"\x89PNG"), "a picture must need nothing more"
        where = run(str(python), "-c", "import traindx.definitions.content as c; print(c.ROOT)", cwd=Path("/")).strip()
        assert Path(where).name == "_content", where
        assert content_of(Path(where)) == content_of(ROOT), content_of(Path(where)) ^ content_of(ROOT)
        assert "torch" not in run(str(python), "-m", "pip", "list"), "the runtime must not need torch"
    print("wheel test: 1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
