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
from typing import Literal

from traindx.runtime.sandbox.kernel import PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, PR_SET_SECCOMP, set_process_option

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


Machine = Literal["x86_64", "aarch64"]

DENIED = """
socket:41:198 connect:42:203 bind:49:200 listen:50:201 accept:43:202 accept4:288:242
fork:57:- vfork:58:- execve:59:221 execveat:322:281
chmod:90:- fchmod:91:52 fchmodat:268:53 fchmodat2:452:452 chown:92:- fchown:93:55 lchown:94:- fchownat:260:54
utime:132:- utimes:235:- futimesat:261:- utimensat:280:88 file_setattr:469:469
setxattr:188:5 lsetxattr:189:6 fsetxattr:190:7 setxattrat:463:463
removexattr:197:14 lremovexattr:198:15 fremovexattr:199:16 removexattrat:466:466
truncate:76:45 rename:82:- renameat:264:38 renameat2:316:276 link:86:- linkat:265:37 symlink:88:- symlinkat:266:36
unlink:87:- unlinkat:263:35 mkdir:83:- mkdirat:258:34 rmdir:84:- mknod:133:- mknodat:259:33
ptrace:101:117 process_vm_readv:310:270 process_vm_writev:311:271 process_madvise:440:440 process_mrelease:448:448
kcmp:312:272 pidfd_open:434:434 pidfd_getfd:438:438 pidfd_send_signal:424:424 tkill:200:130
mount:165:40 umount2:166:39 pivot_root:155:41 chroot:161:51 move_mount:429:429 open_tree:428:428
open_tree_attr:467:467 fsopen:430:430 fsconfig:431:431 fsmount:432:432 fspick:433:433 mount_setattr:442:442
swapon:167:224 swapoff:168:225 quotactl:179:60 quotactl_fd:443:443 acct:163:89 reboot:169:142
sethostname:170:161 setdomainname:171:162 vhangup:153:58 syslog:103:116
settimeofday:164:170 clock_settime:227:112 clock_adjtime:305:266 adjtimex:159:171
init_module:175:105 finit_module:313:273 delete_module:176:106 kexec_load:246:104 kexec_file_load:320:294
bpf:321:280 perf_event_open:298:241 userfaultfd:323:282
io_uring_setup:425:425 io_uring_enter:426:426 io_uring_register:427:427
keyctl:250:219 add_key:248:217 request_key:249:218 mq_open:240:180 mq_unlink:241:181
shmget:29:194 shmat:30:196 shmctl:31:195 shmdt:67:197 semget:64:190 semctl:66:191 semop:65:193 semtimedop:220:192
msgget:68:186 msgctl:71:187 msgsnd:69:189 msgrcv:70:188
fanotify_init:300:262 name_to_handle_at:303:264 open_by_handle_at:304:265
setsid:112:157 setpgid:109:154 unshare:272:97 setns:308:268 capset:126:91 personality:135:92
setuid:105:146 setgid:106:144 setreuid:113:145 setregid:114:143 setresuid:117:147 setresgid:119:149
setfsuid:122:151 setfsgid:123:152 setgroups:116:159
setpriority:141:140 ioprio_set:251:30 sched_setscheduler:144:119 sched_setparam:142:118 sched_setattr:314:274
migrate_pages:256:238 move_pages:279:239 iopl:172:- ioperm:173:- modify_ldt:154:-
"""

# These depend on their arguments, or on whether Landlock already guards the files.
CONDITIONAL = """
clone:56:220 clone3:435:435 kill:62:129 tgkill:234:131 rt_sigqueueinfo:129:138 rt_tgsigqueueinfo:297:240
prlimit64:302:261 socketpair:53:199 fcntl:72:25 ioctl:16:29 prctl:157:167
open:2:- openat:257:56 openat2:437:437 creat:85:-
"""


def numbers(table: str, machine: Machine) -> dict[str, int]:
    """The calls of a table that exist on `machine`, by name."""
    column = 1 if machine == "x86_64" else 2
    entries = (entry.split(":") for entry in table.split())
    return {entry[0]: int(entry[column]) for entry in entries if entry[column] != "-"}
