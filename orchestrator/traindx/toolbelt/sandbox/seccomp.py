"""seccomp: the kernel refuses system calls that reading a run never takes.

A filter is a program of the classic Berkeley Packet Filter over the number and the arguments of a call. Each call
has its own block here, which ends in a verdict; no block jumps out of itself. The numbers are those of
`linux/filter.h`, `linux/seccomp.h` and `linux/audit.h`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterable

from traindx.toolbelt.sandbox.kernel import (
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    PR_SET_SECCOMP,
    set_process_option,
)
from traindx.toolbelt.sandbox.syscalls import CONDITIONAL, DENIED, Machine, numbers

Instruction = tuple[int, int, int, int]

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW = (_RETURN, 0, 0, 0x7FFF0000)
_DENY = (_RETURN, 0, 0, 0x00050000 | errno.EPERM)
_ABSENT = (_RETURN, 0, 0, 0x00050000 | errno.ENOSYS)
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16
_ARCHITECTURES: dict[Machine, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# Numbers from here on are the x32 twins of the x86_64 calls.
_X32 = 0x40000000
_MODE_FILTER = 2

_CLONE_THREAD = 0x00010000
_SOCK_TYPE_MASK, _SOCK_STREAM = 0xF, 1
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX = 8, 10, 15
_TMPFILE = 0o20000000
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | _TMPFILE
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: what an interpreter asks of its own descriptors.
_HARMLESS_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def apply_seccomp(*, forbid_writing: bool) -> bool:
    """Give up every call of the tables; says whether the kernel took it.

    `forbid_writing` also refuses to open any file for writing, for kernels whose Landlock does not.
    """
    machine = _machine()
    if machine is None:
        return False
    code = b"".join(struct.pack("HBBI", *step) for step in _filter(machine, os.getpid(), forbid_writing))
    program = _Program(len(code) // 8, code)
    if not set_process_option(PR_SET_NO_NEW_PRIVS, 1):
        return False
    return set_process_option(PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(program))


def _machine() -> Machine | None:
    if sys.platform != "linux" or sys.maxsize < 2**32:
        return None
    name = platform.machine()
    return "x86_64" if name == "x86_64" else "aarch64" if name == "aarch64" else None


def _filter(machine: Machine, pid: int, forbid_writing: bool) -> list[Instruction]:
    call = numbers(CONDITIONAL, machine)
    steps: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE_OFFSET),
        (_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        _DENY,
        (_LOAD, 0, 0, _NUMBER_OFFSET),
        (_AT_LEAST, 0, 1, _X32),
        _DENY,
    ]
    for number in numbers(DENIED, machine).values():
        steps += _block(number, [_DENY])
    # glibc falls back from clone3, whose flags a filter cannot see, to clone.
    steps += _block(call["clone3"], [_ABSENT])
    steps += _block(call["clone"], [_argument(0), (_ANY_BIT, 0, 1, _CLONE_THREAD), _ALLOW, _DENY])
    for name in ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"):
        steps += _block(call[name], [_argument(0), *_one_of([pid], _ALLOW), _DENY])
    steps += _block(call["prlimit64"], [_argument(0), *_one_of([0, pid], _ALLOW), _DENY])
    # A datagram pair could still send to any named socket; a stream pair is bound to its twin.
    stream = [_argument(1), (_AND, 0, 0, _SOCK_TYPE_MASK), *_one_of([_SOCK_STREAM], _ALLOW), _DENY]
    steps += _block(call["socketpair"], stream)
    # These make the kernel send signals to another process.
    steps += _block(call["fcntl"], [_argument(1), *_one_of([_F_SETOWN, _F_SETSIG, _F_SETOWN_EX], _DENY), _ALLOW])
    steps += _block(call["ioctl"], [_argument(1), *_one_of(_HARMLESS_IOCTLS, _ALLOW), _DENY])
    steps += _block(call["prctl"], [_argument(0), *_one_of([PR_SET_PDEATHSIG], _DENY), _ALLOW])
    if forbid_writing:
        steps += _no_writing(call)
    return [*steps, _ALLOW]


def _no_writing(call: dict[str, int]) -> list[Instruction]:
    steps: list[Instruction] = []
    for name, position in (("open", 1), ("openat", 2)):
        if name in call:
            steps += _block(call[name], [_argument(position), (_ANY_BIT, 0, 1, _WRITING), _DENY, _ALLOW])
    if "creat" in call:
        steps += _block(call["creat"], [_DENY])
    return steps + _block(call["openat2"], [_ABSENT])


def _block(number: int, steps: list[Instruction]) -> list[Instruction]:
    """`steps` for the call with this number; every other call goes past them."""
    return [(_EQUAL, 0, len(steps), number), *steps]


def _one_of(values: Iterable[int], verdict: Instruction) -> list[Instruction]:
    return [step for value in values for step in ((_EQUAL, 0, 1, value), verdict)]


def _argument(position: int) -> Instruction:
    """Load the lower half of an argument: both processors are little-endian, and these arguments are 32 bits wide."""
    return (_LOAD, 0, 0, _ARGUMENTS_OFFSET + 8 * position)
