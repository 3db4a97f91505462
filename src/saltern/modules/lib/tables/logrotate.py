"""logrotate.conf: settings at the top, and in the blocks of files."""

from __future__ import annotations

from saltern.modules.api.refused import one_line

USUAL = "/etc/logrotate.conf"


def values(text: str, block: str = "") -> dict[str, str]:
    """The settings of a block, or those outside of all blocks; empty for a setting without a value."""
    found: dict[str, str] = {}
    for where, words, _ in _walk(text):
        if where == block and words:
            found[words[0]] = " ".join(words[1:])
    return found


def with_value(text: str, block: str, word: str, value: str) -> str:
    for what, given in (("the block", block), ("the setting", word), ("the value", value)):
        one_line(given, what, without="{}")
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
    """Each line with its block and its words; lines that begin or end a block have none."""
    walked: list[tuple[str, list[str], str]] = []
    block = ""
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith("#") or not bare:
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
