"""Landlock: the kernel refuses every file outside a list, every write, and (from Linux 6.7) every TCP connection.

The numbers are those of `linux/landlock.h`; they are the same on all processors.
"""

from __future__ import annotations

import os
import stat
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

from traindx.runtime.sandbox.kernel import PR_SET_NO_NEW_PRIVS, set_process_option, system_call

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1

WRITE_FILE, READ_FILE, READ_DIR = 1 << 1, 1 << 2, 1 << 3
# The file rights each version of the interface knows: 13 at first, then REFER, TRUNCATE and IOCTL_DEV.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_TCP_BIND_AND_CONNECT = 0b11
_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
_WRITABLE = "/dev/null"


def landlock_version() -> int:
    """The version of Landlock this kernel offers; 0 for none."""
    if sys.platform != "linux":
        return 0
    return max(0, system_call(_CREATE_RULESET, None, 0, _VERSION))


def apply_landlock(readable: Sequence[str]) -> bool:
    """Leave this process nothing but reading below the given paths; says whether the kernel took it."""
    version = landlock_version()
    # The restriction covers the calling thread and its children: an older thread would stay outside.
    if version < 1 or len(list(Path("/proc/self/task").iterdir())) != 1:
        return False
    fields = [(1 << _FILE_RIGHTS[min(version, max(_FILE_RIGHTS))]) - 1]
    if version >= 4:
        fields.append(_TCP_BIND_AND_CONNECT)
    if version >= 6:
        fields.append(_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS)
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = system_call(_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        return False
    try:
        for path in readable:
            _allow(ruleset, path)
        return set_process_option(PR_SET_NO_NEW_PRIVS, 1) and system_call(_RESTRICT_SELF, ruleset, 0) == 0
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str) -> None:
    """Allow reading `path` and what is below it; a path that cannot be opened stays forbidden."""
    try:
        handle = os.open(path, getattr(os, "O_PATH", os.O_RDONLY) | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rights = READ_FILE | READ_DIR if stat.S_ISDIR(os.fstat(handle).st_mode) else READ_FILE
        if path == _WRITABLE:
            rights |= WRITE_FILE
        system_call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, handle), 0)
    finally:
        os.close(handle)
