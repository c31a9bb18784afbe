"""Compiles what reads and measures numbers, where a C compiler is at hand; without one the wheel is pure Python.

An editable install is also compiled to bytecode: nothing else would do it, since tools and detectors are imported only
in the worker, which must not write. Installers do it for a wheel.
"""

from __future__ import annotations

import compileall
import os
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

READING = Path("orchestrator/traindx/readers/native")
MONITORING = Path("orchestrator/traindx/monitor/native")
LIBRARIES = {
    READING / "libnumbers.so": (READING / "numbers.c", READING / "measure.c", READING / "lines.c"),
    MONITORING / "libstate.so": (MONITORING / "state.c",),
}
IMPORTED = ("orchestrator/traindx", "tools")
FLAGS = ("-O3", "-std=c11", "-fvisibility=hidden", "-shared", "-fPIC")


class CompileHook(BuildHookInterface):  # type: ignore[type-arg, misc, unused-ignore]
    """Puts the compiled libraries beside their sources, and into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and say for which platform the wheel is; `version` is "editable" or "standard"."""
        if version == "editable":
            for folder in IMPORTED:
                compileall.compile_dir(Path(self.root) / folder, quiet=2)
        compiled = self.target_name == "wheel" and [self._compile(*one) for one in LIBRARIES.items()]
        if compiled and all(compiled):
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platform}"
            build_data["artifacts"] += [library.as_posix() for library in LIBRARIES]

    def _compile(self, library: Path, sources: tuple[Path, ...]) -> bool:
        compiler = shlex.split(os.environ.get("CC", "cc"))
        if not compiler or shutil.which(compiler[0]) is None:
            return self._without(f"there is no {compiler[0] if compiler else 'compiler'}")
        root = Path(self.root)
        fresh = root / library.with_suffix(f".{os.getpid()}")
        done = subprocess.run(
            [*compiler, *FLAGS, *(str(root / source) for source in sources), "-o", str(fresh)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            fresh.unlink(missing_ok=True)
            return self._without(done.stderr.strip() or "the compiler failed")
        # A process may have the old one loaded: replaced, not written over.
        fresh.replace(root / library)
        return True

    def _without(self, reason: str) -> bool:
        self.app.display_warning(f"numbers will be read by numpy and measured by torch, slower: {reason}")
        return False
