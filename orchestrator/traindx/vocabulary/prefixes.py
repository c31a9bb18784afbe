"""What loggers and launchers put before a message: time stamps, levels, ranks and process names."""

from __future__ import annotations

import re

# Every repetition is bounded: the pattern runs over every line of every log.
PREFIX = re.compile(
    r"(?:\s{0,8}(?:"
    r"[\[(]?\d{4}[-/]\d\d[-/]\d\d[T ,]\d\d?:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?[\])]?:?"
    r"|[\[(]?\d\d?:\d\d:\d\d(?:[.,]\d{1,9})?[\])]?"
    r"|[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{1,9} {1,8}\d{1,9} [^\s\]]{1,120}\]"
    # `[E626 05:14:36.393067540 ProcessGroupNCCL.cpp:632]`, and `[E ProcessGroupNCCL.cpp:563]` of older releases
    r"|\[[IWEF](?:\d{3,4} \d\d:\d\d:\d\d\.\d{1,9})? \w{1,60}\.(?:cpp|cc|hpp|h):\d{1,6}\]"
    r"|[\[(]?(?:rank|RANK|Rank|local_rank|GPU|gpu|worker|node)[ :=_]?\d{1,5}[\])]?:?"
    r"|\[default\d{1,5}\]:"  # torchrun --tee
    r"|\[\d{1,6},\d{1,5}\]<std(?:out|err)>:"  # mpirun --tag-output
    r"|std(?:out|err) [FP](?= )"  # what a container runtime writes behind its time
    # `trainer-1  | `, as `docker compose logs` names who speaks
    r"|(?!(?i:epoch|ep|step|iter|it|batch|fold|round|phase|stage))[A-Za-z][\w.]{0,60}[-_]\d{1,4} {1,24}\|(?=\s)"
    r"|\(\w{1,60}(?: [a-z]{1,12}=\d{1,6}){0,3} pid=\d{1,9}(?:, ip=[\d.]{1,20})?\)"
    r"|\d\d-\d\d \d\d:\d\d:\d\d(?: \[\w{1,60}\.py:\d{1,6}\])?"  # `ERROR 05-02 11:20:33 [core.py:718]`
    r"|\[\d{1,5}\]:"
    # `INFO:trainer:step=10`, as `logging.basicConfig()` writes it; a digit behind the colon would be a value.
    r"|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):[A-Za-z_][\w.]{0,60}:(?=[^\d\s]|\d{1,9}/)"
    r"|[\[(]?(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL)[\])]?:?"
    r"|[-|:](?=\s)"
    r")){1,6}[ \t]?"
)
"""the prefix of a log line, up to the message's own indentation"""

LEVEL = re.compile(
    r"(?:^|[\s\[(|-])(DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)(?=[\s\])|:,-])"
    r"|(?:^|\[)(?P<glog>[IWEF])(?:\d{3,4} \d\d:\d\d:\d\d| \w{1,60}\.(?:cpp|cc|hpp|h):)"
)
"""the level inside a prefix"""

LOOSE_PREFIX = re.compile(re.sub(r"\\d(?:\\d\??|\{[\d,]+\})?", r"\\d+", PREFIX.pattern))
"""as far as a prefix could reach in a line with the same words and longer or shorter numbers"""

RANK = re.compile(r"(?:rank|RANK|Rank|local_rank|GPU|gpu|\[default|\[\d{1,6},)[ :=_]?(\d{1,5})(?!\d)")
"""the process inside a prefix"""
