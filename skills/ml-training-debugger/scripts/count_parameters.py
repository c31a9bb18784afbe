"""Count a model's parameters by kind and module.

Usage: python count_parameters.py RUN [options]; --help lists them.
"""

import sys

try:
    from traindx.cli import main
except ModuleNotFoundError:
    sys.exit("count_parameters.py needs traindx for this Python: pip install traindx")

if __name__ == "__main__":
    sys.exit(main(["tool", "count_parameters", *sys.argv[1:]]))
