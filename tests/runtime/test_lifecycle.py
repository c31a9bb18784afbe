"""A worker ends with the process that started it, and does not care where that process stands."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from tests.extras import torch
from traindx.runtime import Toolbelt

pytestmark = pytest.mark.slow

WriteTool = Callable[..., Path]
WorkersOf = Callable[[int], set[int]]

SLEEPER = """
import sys
from pathlib import Path
from traindx.readers import Scope
from traindx.runtime import Toolbelt

toolbelt = Toolbelt(Scope.of(sys.argv[1]), [Path(sys.argv[2])])
toolbelt.call("sleep")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's word for it is Linux's")
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_worker_dies_with_its_parent(
    ending: signal.Signals, tmp_path: Path, run_folder: Path, write_tool: WriteTool, workers_of: WorkersOf
) -> None:
    # It spins in C with the interpreter's lock held: only the kernel can end it.
    tools = write_tool("sleep", 're.search("(a+)+$", "a" * 60 + "b")', "import re").parent
    script = tmp_path / "parent.py"
    script.write_text(SLEEPER)
    command = [sys.executable, str(script), str(run_folder), str(tools)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as parent:
        assert _eventually(lambda: bool(workers_of(parent.pid)))
        time.sleep(0.5)
        parent.send_signal(ending)
        assert parent.wait(5) != 0
        assert _eventually(lambda: not workers_of(parent.pid))


def test_the_users_folder_shadows_nothing(tmp_path: Path, run_folder: Path, write_tool: WriteTool) -> None:
    """`python script.py` puts the user's folder first on the path, and so does PYTHONPATH."""
    home = tmp_path / "project"
    for package in ("tools", "orchestrator", "agents"):
        (home / package).mkdir(parents=True)
        (home / package / "__init__.py").write_text("")
    (home / "numpy.py").write_text("raise RuntimeError('a file of the user was imported')\n")
    tools = write_tool(
        "where", "return Answer(text=' '.join([numpy.__file__, *sys.path]))", "import sys\nimport numpy"
    ).parent
    (home / "script.py").write_text(
        dedent(f"""
        import sys
        from pathlib import Path
        import tools, orchestrator, agents
        from traindx.readers import Scope
        from traindx.runtime import Toolbelt

        with Toolbelt(Scope.of({str(run_folder)!r}), [Path({str(tools)!r})]) as toolbelt:
            result = toolbelt.call("where")
            assert result.status == "ok", result.reason
            print(result.output["text"])
            print(toolbelt.call("Read", {{"path": "train.log"}}).status, toolbelt.sandbox)
        """)
    )
    environment = {**os.environ, "PYTHONPATH": f"{home}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=home,
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    where, read = done.stdout.splitlines()
    assert str(home) not in where
    assert read.split()[0] == "ok"


def test_importing_the_toolbelt_imports_nothing_heavy() -> None:
    program = "import sys, traindx.runtime; print([m for m in ('numpy', 'torch', 'anthropic') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.strip() == "[]"


def test_torch_works_inside(run_folder: Path, write_tool: WriteTool, request: pytest.FixtureRequest) -> None:
    torch.save({"weight": torch.ones(3, 4)}, run_folder / "model.pt")
    body = """
    import torch

    product = torch.randn(400, 400) @ torch.randn(400, 400)
    path = run.scope.resolve("model.pt")
    loaded = [torch.load(path, weights_only=True, mmap=mapped)["weight"].sum().item() for mapped in (False, True)]
    with open("/proc/self/status") as status:
        threads = [int(line.split()[1]) for line in status if line.startswith("Threads:")]
    return Answer(text=f"{tuple(product.shape)} {loaded} {threads[0] >= torch.get_num_threads()}")
    """
    write_tool("weigh", body, options='packages=["torch"]')
    toolbelt: Toolbelt = request.getfixturevalue("toolbelt")
    result = toolbelt.call("weigh", timeout=60.0)
    assert result.output.get("text") == "(400, 400) [12.0, 12.0] True", result.reason


def _eventually(happens: Callable[[], bool], seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if happens():
            return True
        time.sleep(0.02)
    return False
