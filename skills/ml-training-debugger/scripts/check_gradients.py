"""Compare a run's gradient norms with its loss.

Usage: python check_gradients.py RUN [options]; --help lists them.
"""

import sys

try:
    from traindx.cli import main
except ModuleNotFoundError:
    sys.exit("check_gradients.py needs traindx for this Python: pip install traindx")

if __name__ == "__main__":
    sys.exit(main(["tool", "check_gradients", *sys.argv[1:]]))
