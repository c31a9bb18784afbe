"""Look at a run's memory: series, growth per step, what it should need.

Usage: python profile_memory.py RUN [options]; --help lists them.
"""

import sys

try:
    from traindx.cli import main
except ModuleNotFoundError:
    sys.exit("profile_memory.py needs traindx for this Python: pip install traindx")

if __name__ == "__main__":
    sys.exit(main(["tool", "profile_memory", *sys.argv[1:]]))
