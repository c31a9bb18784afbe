"""Lists of installed packages: `packages.torch = 2.1.0`, from requirements, pip, conda and torch's own report."""

from __future__ import annotations

import re

from traindx.readers.configs.values import Found, Remark, Unreadable
from traindx.readers.configs.yamltext import read_yaml

NAME = re.compile(
    r"(?:^|/)(?:[\w.-]*requirements[\w.-]*\.(?:txt|in|pip)|pip[_-]?(?:freeze|list|packages)[\w.-]*\.?(?:txt|log)?"
    r"|(?:conda[_-])?(?:environment|env)[\w.-]*\.ya?ml|conda[_-]?(?:list|packages|env)[\w.-]*\.?(?:txt)?"
    r"|installed[_-]packages[\w.-]*|collect_env[\w.-]*|packages\.txt|freeze\.txt|constraints[\w.-]*\.txt)$",
    re.IGNORECASE,
)
"""names that such lists have"""
_REQUIREMENT = re.compile(
    r"\s*(?:-\s+)?(?:\[(?:pip3?|conda)\]\s+)?([A-Za-z0-9][\w.-]{0,80})(?:\[[\w, .-]{0,200}\])?"
    r"\s*(===?|~=|>=|<=|!=|<|>|=(?!=))\s*([\w.*+!-]{1,80})((?:\s*,[^#;\s]{1,80})*)"
)
_BARE = re.compile(r"[A-Za-z0-9][\w.-]{0,80}")
_COLUMNS = re.compile(
    r"(?:\[(?:pip3?|conda)\]\s+)?([A-Za-z0-9][\w.-]{0,80})\s+v?(\d[\w.+!-]{0,60})(?:\s+\S{1,120}){0,3}\s*$"
)
_FROM = re.compile(r"([A-Za-z0-9][\w.-]{0,80})\s*@\s*(\S{1,300})|-e\s+(?:git\+)?(\S{1,300})")
_LOGIN = re.compile(r"://[^/\s@]{1,300}@")
_REPORT = re.compile(r"(PyTorch|CUDA|cuDNN|CUDNN|Python|GCC|Nvidia driver|CUDA runtime|ROCM) version:\s*(\S.{0,80})")
_TABLE_SIGN = re.compile(r"^(?:Package\s+Version|# packages in environment|# Name\s+Version)", re.MULTILINE)


def lists_packages(text: str) -> bool:
    """Whether the beginning of a text is a list of packages with versions."""
    if _TABLE_SIGN.search(text[:2_000]) or text.startswith("Collecting environment information"):
        return True
    lines = [line for line in text.splitlines()[:60] if line.strip() and not line.lstrip().startswith(("#", "-"))]
    exact = sum(
        1 for line in lines if (found := _REQUIREMENT.fullmatch(line.partition(";")[0].rstrip())) and found[2] == "=="
    )
    return len(lines) >= 2 and exact >= 0.8 * len(lines)


def read_packages(text: str, remark: Remark) -> Found:
    """Every package as `packages.<name>` with its version, or with the range that is asked for."""
    if re.search(r"^dependencies:\s*$", text, re.MULTILINE):
        yield from _conda_environment(text, remark)
        return
    table = _TABLE_SIGN.search(text[:2_000]) is not None
    for number, line in enumerate(text.split("\n"), 1):
        said = line.split(" #")[0].partition(";")[0].rstrip()
        if len(said) > 500 or not said.strip() or said.lstrip().startswith("#"):
            continue
        report = _REPORT.match(said.strip())
        if report:
            yield f"packages.{_plain(report[1])}", report[2].strip(), number
        else:
            yield from _line(said, number, table)


def _line(said: str, number: int, table: bool) -> Found:
    row = _COLUMNS.match(said)
    if row and (table or said.startswith("[")):
        yield f"packages.{_plain(row[1])}", row[2], number
        return
    found = _REQUIREMENT.match(said)
    if found:
        exact = found[2] in {"==", "===", "="} and not found[4]
        version = found[3] if exact else f"{found[2]}{found[3]}{found[4]}".replace(" ", "")
        yield f"packages.{_plain(found[1])}", version, number
        return
    source = _FROM.match(said.strip())
    if source:
        where = _LOGIN.sub("://", source[2] or source[3])
        yield f"packages.{_plain(source[1] or where.rpartition('egg=')[2].rpartition('/')[2])}", where, number
    elif _BARE.fullmatch(said.strip()) and not table:
        yield f"packages.{_plain(said.strip())}", "any", number


def _conda_environment(text: str, remark: Remark) -> Found:
    try:
        found = list(read_yaml(text, remark))
    except Unreadable:
        remark("it is not valid YAML: its package lines were read one by one")
        found = [("dependencies[0]", line, number) for number, line in enumerate(text.split("\n"), 1) if "=" in line]
    for key, value, line in found:
        if key.startswith("dependencies["):
            yield from _conda_line(str(value), line)
        elif key == "name":
            yield "environment.name", value, line


def _conda_line(said: str, line: int) -> Found:
    # conda writes `numpy=1.26.4=py311h64a7726_0`: the last part is the build.
    parts = said.rpartition("::")[2].lstrip("- ").split("=")
    if len(parts) == 3 and parts[1]:
        said = f"{parts[0]}=={parts[1]}"
    yield from _line(said.rpartition("::")[2], line, table=False)


def _plain(name: str) -> str:
    return re.sub(r"[-_.\s]+", "-", name.strip()).lower()
