"""Configuration files: every scalar of a YAML, JSON, TOML, INI, gin or package file with its key and line."""

from __future__ import annotations

import re
from typing import BinaryIO

from traindx.readers.configs.jsonconfig import read_json_config
from traindx.readers.configs.packages import NAME as PACKAGES_NAME
from traindx.readers.configs.packages import lists_packages, read_packages
from traindx.readers.configs.pairs import read_pairs
from traindx.readers.configs.tomltext import read_toml
from traindx.readers.configs.values import MOST, Reader, Unreadable, bounded, dotted, flat, is_secret, scalar
from traindx.readers.configs.yamltext import read_yaml
from traindx.readers.logs.lines import blocks
from traindx.readers.model import Setting

__all__ = ["LARGEST", "MOST", "Unreadable", "dotted", "flat", "read_configuration", "read_settings", "scalar"]

LARGEST = 4 << 20
"""characters of a configuration that are read: a second of work"""
_BY_SUFFIX: dict[str, Reader] = {
    "json": read_json_config,
    "json5": read_json_config,
    "jsonc": read_json_config,
    "toml": read_toml,
    "yaml": read_yaml,
    "yml": read_yaml,
    "gin": read_pairs,
    "env": read_pairs,
}
_SECTIONS = re.compile(r"^\s*\[[\w.\- \"']{1,80}\]\s*$", re.MULTILINE)
_YAML_SIGN = re.compile(
    r"^(?:---\s*$|%YAML|[\w.\-\"']{1,80}:\s*(?:[&!|>][^\n]*)?\n(?:\s*#[^\n]*\n)*(?: +|- )\S)", re.MULTILINE
)


def read_configuration(handle: BinaryIO, source: str) -> tuple[list[Setting], list[str]]:
    """The settings of a configuration file, and what is to be said about it; never raises for what it holds."""
    remarks: list[str] = []

    def remark(said: str) -> None:
        if len(remarks) < 10:
            remarks.append(f"`{source}`: {said}")

    text = "".join(text for _, text in blocks(handle, LARGEST + 1))
    if len(text) > LARGEST:
        remark(f"it is larger than {LARGEST >> 20} MB, too large for a config")
        return [], remarks
    found: dict[tuple[str, int], Setting] = {}
    withheld = 0
    try:
        for key, value, line in _reader(source, text)(text, remark):
            if len(found) >= MOST:
                remark(f"it has more than {MOST:,} settings; the later ones were left out")
                break
            if is_secret(key, value):
                withheld += 1
            elif key:
                found.setdefault((key, line), Setting(key, bounded(value), source, line))
    except (ValueError, RecursionError, MemoryError) as error:
        remark(str(error) or "it is nested too deeply")
    if withheld:
        remark(f"{withheld} value(s) that look like passwords or keys were left out")
    return list(found.values()), remarks


def read_settings(handle: BinaryIO, source: str) -> list[Setting]:
    """The settings of a configuration file; raises `Unreadable` with the reason where it has none to give."""
    found, remarks = read_configuration(handle, source)
    if not found and remarks:
        raise Unreadable(remarks[0].removeprefix(f"`{source}`: "))
    return found


def _reader(source: str, text: str) -> Reader:
    suffix = source.rpartition("/")[2].lower().rpartition(".")[2]
    if PACKAGES_NAME.search(source) and suffix not in {"yaml", "yml"}:
        return read_packages
    if suffix in {"yaml", "yml"}:
        conda = PACKAGES_NAME.search(source) and re.search(r"^dependencies:\s*$", text, re.MULTILINE)
        return read_packages if conda else read_yaml
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    return _reader_by_content(text)


def _reader_by_content(text: str) -> Reader:
    head = text[:20_000]
    if head.lstrip()[:1] == "{":
        return read_json_config
    if lists_packages(head):
        return read_packages
    if _YAML_SIGN.search(head) and not _SECTIONS.search(head):
        return read_yaml
    return read_pairs
