"""Giving up powers, step by step, and saying honestly which of them are gone."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass

from traindx.runtime.protocol import WorkerConfig
from traindx.runtime.sandbox.kernel import PR_SET_PDEATHSIG, set_process_option
from traindx.runtime.sandbox.landlock import apply_landlock
from traindx.runtime.sandbox.limits import limit_resources
from traindx.runtime.sandbox.seccomp import apply_seccomp


@dataclass(frozen=True)
class Confinement:
    """What is enforced on this process from now on."""

    landlock: bool
    seccomp: bool

    @property
    def any(self) -> bool:
        """Whether a refusal of the system may be ours."""
        return self.landlock or self.seccomp


def die_with_parent(parent: int) -> None:
    """Have the kernel end this process when the one that started it ends, however that ends."""
    if sys.platform == "linux":
        set_process_option(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def confine(config: WorkerConfig) -> Confinement:
    """Give up everything that reading the run does not take."""
    limit_resources(config.memory_mb)
    landlock = apply_landlock(config.readable)
    seccomp = apply_seccomp(forbid_writing=not landlock)
    return Confinement(landlock, seccomp)
