"""``ini``: read INI files."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from saltern.modules.api import function
from saltern.modules.context import Context

Sections = dict[str, dict[str, str]]


def _read(path: str, separator: str) -> Sections:
    """What stands before the first section is in the section without a name."""
    found: Sections = {}
    rows: dict[str, str] = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return {}
    for line in map(str.strip, lines):
        if line.startswith("[") and line.endswith("]"):
            rows = found.setdefault(line[1:-1].strip(), {})
        elif line and line[0] not in "#;" and separator in line:
            if not found:
                found[""] = rows
            key, _, value = line.partition(separator)
            rows[key.strip()] = value.strip()
    return found


@function
def get_option(ctx: Context, file_name: str, section: str, option: str, separator: str = "=") -> str | None:
    """The value of an option, or None."""
    return _read(file_name, separator).get(section, {}).get(option)


@function
def get_section(ctx: Context, file_name: str, section: str, separator: str = "=") -> dict[str, str]:
    """The options of a section."""
    return _read(file_name, separator).get(section, {})


@function
def get_ini(ctx: Context, file_name: str, separator: str = "=") -> Sections:
    """The whole file."""
    return _read(file_name, separator)
