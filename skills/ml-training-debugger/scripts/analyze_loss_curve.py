"""Measure a run's loss curve: onset, spikes, best point, trend.

Usage: python analyze_loss_curve.py RUN [options]; --help lists them.
"""

import sys

try:
    from traindx.cli import main
except ModuleNotFoundError:
    sys.exit("analyze_loss_curve.py needs traindx for this Python: pip install traindx")

if __name__ == "__main__":
    sys.exit(main(["tool", "analyze_loss_curve", *sys.argv[1:]]))
