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
# Writing, removing, creating of every kind: bits 4 to 12; moving between folders (13) and truncating (14) came later.
_CHANGE = WRITE_FILE | sum(1 << bit for bit in range(4, 15))
# The file rights each version of the interface knows: 13 at first, then REFER, TRUNCATE and IOCTL_DEV.
_OF_FILES = WRITE_FILE | READ_FILE | 1 << 14
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
    if version < 1:
        return False
    fields = [_known(version)]
    if version >= 4:
        fields.append(_TCP_BIND_AND_CONNECT)
    if version >= 6:
        fields.append(_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS)
    rights = READ_FILE | READ_DIR
    return _restrict(fields, [(path, rights | (WRITE_FILE if path == _WRITABLE else 0)) for path in readable])


def forbid_changes(writable: Sequence[str], *, network: bool) -> bool:
    """Leave this process and its children no writing outside the given paths, and no TCP without `network`; reading
    stays as it is. Says whether the kernel took it.
    """
    version = landlock_version()
    if version < 1:
        return False
    changes = _CHANGE & _known(version)
    fields = [changes]
    if version >= 4 and not network:
        fields.append(_TCP_BIND_AND_CONNECT)
    return _restrict(fields, [(path, changes) for path in writable])


def _known(version: int) -> int:
    return (1 << _FILE_RIGHTS[min(version, max(_FILE_RIGHTS))]) - 1


def _restrict(fields: Sequence[int], rules: Sequence[tuple[str, int]]) -> bool:
    # The restriction covers the calling thread and its children: an older thread would stay outside.
    if len(list(Path("/proc/self/task").iterdir())) != 1:
        return False
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = system_call(_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        return False
    try:
        for path, rights in rules:
            _allow(ruleset, path, rights)
        return set_process_option(PR_SET_NO_NEW_PRIVS, 1) and system_call(_RESTRICT_SELF, ruleset, 0) == 0
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    """Grant rights on `path` and what is below it; a path that cannot be opened stays forbidden."""
    try:
        handle = os.open(path, getattr(os, "O_PATH", os.O_RDONLY) | os.O_CLOEXEC)
    except OSError:
        return
    try:
        # A file takes the rights of files only: to read, to write and to cut off.
        granted = rights if stat.S_ISDIR(os.fstat(handle).st_mode) else rights & _OF_FILES
        system_call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", granted, handle), 0)
    finally:
        os.close(handle)
