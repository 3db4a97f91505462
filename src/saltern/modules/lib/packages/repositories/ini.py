"""Repository files of dnf, yum and zypper: sections of ``key=value``, edited in place."""

from __future__ import annotations

import re

SECTION = re.compile(r"^\[([^\]]+)\]\s*$")


def sections(text: str) -> dict[str, dict[str, str]]:
    """Every section with its values; the lines of a value are joined by newlines."""
    found: dict[str, dict[str, str]] = {}
    current: dict[str, str] | None = None
    key = ""
    for line in text.splitlines():
        if head := SECTION.match(line):
            current = found.setdefault(head[1], {})
        elif current is None or not line.strip() or line.lstrip()[:1] in "#;":
            continue
        elif line[:1] in " \t" and key:
            current[key] = f"{current[key]}\n{line.strip()}"
        elif "=" in line:
            key, _, value = (part.strip() for part in line.partition("="))
            current[key] = value
    return found


def with_section(text: str, name: str, values: dict[str, str]) -> str:
    """The file with this section replaced, or added at the end."""
    body = [
        f"[{name}]",
        *(f"{key}={value.replace(chr(10), chr(10) + '  ')}" for key, value in values.items()),
    ]
    before, _, after = _around(text, name)
    parts = [part for part in ("\n".join(before), "\n".join(body), "\n".join(after)) if part.strip()]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def without_section(text: str, name: str) -> str:
    before, found, after = _around(text, name)
    if not found:
        return text
    parts = [part for part in ("\n".join(before), "\n".join(after)) if part.strip()]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n" if parts else ""


def _around(text: str, name: str) -> tuple[list[str], list[str], list[str]]:
    """Lines before the section, of it, and after it."""
    before: list[str] = []
    inside: list[str] = []
    after: list[str] = []
    target = before
    for line in text.splitlines():
        if head := SECTION.match(line):
            target = inside if head[1] == name else (after if inside else before)
        target.append(line)
    return before, inside, after
