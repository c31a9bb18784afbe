"""What a worker gives up: files, network, processes, memory and time beyond what reading a run takes."""

from traindx.runtime.sandbox.confine import Confinement, confine, die_with_parent

__all__ = ["Confinement", "confine", "die_with_parent"]
