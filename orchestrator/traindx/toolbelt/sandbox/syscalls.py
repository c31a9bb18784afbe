"""The system calls a worker has no use for, as `name:x86_64:aarch64` (`-` where a processor has none).

Landlock leaves all of these open: it covers the contents of files and TCP, but not the metadata of files, other
kinds of sockets, processes, or the machine as a whole.
"""

from __future__ import annotations

from typing import Literal

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
