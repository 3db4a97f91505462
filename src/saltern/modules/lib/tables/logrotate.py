"""logrotate.conf: settings at the top, and in the blocks of files."""

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.refused import one_line

USUAL = "/etc/logrotate.conf"
SCRIPTS = frozenset({"prerotate", "postrotate", "firstaction", "lastaction", "preremove"})


def text_of(value: object) -> str | None:
    """The value as text: empty for a setting without one, None for one that is not wanted."""
    if isinstance(value, bool):
        return "" if value else None
    return one_line(str(value), "the value", without="{}")


def place_of(ctx: Context, conf_file: str, block: str) -> str:
    """The file that has the block: the given one, or one of a directory that it includes."""
    if not block:
        return conf_file
    for folder in [
        words[1] for _, words, _ in _walk(ctx.host.read(conf_file) or "") if words[:1] == ["include"]
    ]:
        for path in sorted(entry.path for entry in os.scandir(folder)) if os.path.isdir(folder) else ():
            if any(where == block for where, _, _ in _walk(ctx.host.read(path) or "")):
                return path
    return conf_file


def values(text: str, block: str = "") -> dict[str, str]:
    """The settings of a block, or those outside of all blocks; empty for a setting without a value."""
    found: dict[str, str] = {}
    for where, words, _ in _walk(text):
        if where == block and words:
            found[words[0]] = " ".join(words[1:])
    return found


def with_value(text: str, block: str, word: str, value: str | None) -> str:
    for what, given in (("the block", block), ("the setting", word), ("the value", value or "")):
        one_line(given, what, without="{}")
    if value is None:
        kept = [line for where, words, line in _walk(text) if where != block or words[:1] != [word]]
        return "".join(f"{line}\n" for line in kept)
    new = f"{word} {value}".rstrip()
    lines, done, end = [], False, -1
    for where, words, line in _walk(text):
        if where == block and words and words[0] == word:
            indent = line[: len(line) - len(line.lstrip())]
            line, done = indent + new, True
        lines.append(line)
        if block and where == block:
            end = len(lines)
    if not done and block and end < 0:
        lines += [f"{block} {{", f"    {new}", "}"]
    elif not done:
        lines.insert(end if block else _top(text), f"    {new}" if block else new)
    return "".join(f"{line}\n" for line in lines)


def _top(text: str) -> int:
    """The position of a new setting: before the first block, since it affects the blocks after it."""
    lines = text.splitlines()
    return next((at for at, line in enumerate(lines) if "{" in line.partition("#")[0]), len(lines))


def _walk(text: str) -> list[tuple[str, list[str], str]]:
    """Each line with its block and its words; remarks, scripts and the ends of a block have none."""
    walked: list[tuple[str, list[str], str]] = []
    block, script = "", False
    for line in text.splitlines():
        bare = line.strip()
        script = bare in SCRIPTS or (script and bare != "endscript")
        if script or bare.startswith("#") or bare in ("", "endscript"):
            walked.append((block, [], line))
        elif bare.endswith("{"):
            block = bare[:-1].strip()
            walked.append((block, [], line))
        elif bare == "}":
            walked.append(("", [], line))
            block = ""
        else:
            walked.append((block, bare.split(), line))
    return walked
