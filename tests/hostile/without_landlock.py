"""Run a command as on a kernel without Landlock: the call that would ask for it does not exist."""

import ctypes
import os
import struct
import sys

LANDLOCK_CREATE_RULESET = 444  # on every architecture
ENOSYS = 38


class Program(ctypes.Structure):
    """What prctl takes: how many instructions, and where."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def main() -> None:
    """Install the filter, then become the command."""
    load, equal, give_back = 0x20, 0x15, 0x06
    rows = [
        (load, 0, 0, 0),
        (equal, 0, 1, LANDLOCK_CREATE_RULESET),
        (give_back, 0, 0, 0x00050000 | ENOSYS),
        (give_back, 0, 0, 0x7FFF0000),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    program = Program(len(rows), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):
        sys.exit(77)
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 - the command under test


main()
