"""Start the MCP server for an agent host, in whichever environment has this plugin's version of traindx.

Looked for in this order: $TRAINDX_PYTHON, `.venv` beside the plugin, the Python that runs this file, the `traindx`
command. The first two are taken without being asked, since a host waits: a server of another version says so itself.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ASK = (
    "import importlib.util as u; from traindx.definitions.version import __version__ as v;"
    "print(v if u.find_spec('mcp') else v + ' without mcp')"
)


def wanted():
    """The version that the plugin's manifest names."""
    return json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))["version"]


def named():
    """The interpreter that is meant for this plugin, if there is one."""
    beside = ROOT / ".venv" / "bin"
    return os.environ.get("TRAINDX_PYTHON") or (str(beside / "python") if (beside / "traindx").exists() else "")


def pythons():
    """Other interpreters that may have traindx, the likeliest first."""
    command = shutil.which("traindx")
    first = Path(command).read_bytes()[:300].split(b"\n")[0].decode("utf-8", "replace") if command else ""
    found = [sys.executable, first[2:].strip() if first.startswith("#!") else ""]
    return [one for one in dict.fromkeys(found) if one and Path(one).exists()]


def version_in(python):
    """What `python` has of traindx; empty where it has none."""
    asked = subprocess.run([python, "-c", ASK], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    return asked.stdout.strip()


def serve(python, version):
    """Become the server."""
    words = [python, "-m", "traindx", "mcp", "--expect", version, *sys.argv[1:]]
    try:
        os.execv(python, words)  # noqa: S606 - the server replaces us, as the host expects
    except OSError as error:
        sys.exit(f"{python} cannot be run: {error.strerror}")


def main():
    """Become the server, or say in one sentence how to get it."""
    version, seen = wanted(), []
    if named():
        serve(named(), version)
    for python in pythons():
        found = version_in(python)
        if found == version:
            serve(python, version)
        seen += [f"{python} has {found}"] if found else []
    beside = f" ({'; '.join(seen)})" if seen else ""
    sys.exit(f"traindx {version} is not installed{beside}: pip install '{ROOT}[mcp]', then restart the host")


if __name__ == "__main__":
    main()
