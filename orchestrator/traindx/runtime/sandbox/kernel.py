"""Two ways into the kernel that Python does not offer."""

from __future__ import annotations

import ctypes

PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38


def system_call(number: int, *arguments: int | bytes | None) -> int:
    """Make a system call; -1 when the kernel refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    words = [ctypes.c_long(value) if isinstance(value, int) else ctypes.c_char_p(value) for value in arguments]
    return int(libc.syscall(ctypes.c_long(number), *words))


def set_process_option(option: int, value: int, address: int = 0) -> bool:
    """`prctl` with its unused arguments zero, which it insists on; says whether the kernel took it."""
    libc = ctypes.CDLL(None, use_errno=True)
    words = [ctypes.c_ulong(word) for word in (value, address, 0, 0)]
    return bool(libc.prctl(ctypes.c_int(option), *words) == 0)
