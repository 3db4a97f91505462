"""Parse package groups in the output of dnf and yum."""

from __future__ import annotations

import re

from saltern.modules.lib.packages.model import Group

PARTS = ("mandatory", "default", "optional", "conditional")
FIELD = re.compile(r"^ *(\w[\w -]*?) *: *(.*)$")
INSTALLED_MARKS = "+-="  # yum puts one before each package
SECTION = re.compile(r"^(Installed|Available) (Environment Groups|Language Groups|Groups):", re.IGNORECASE)
KINDS = {"groups": "", "environment groups": " environments", "language groups": " languages"}


def group_of(text: str) -> Group | None:
    """The group that ``group info`` shows, or None if it shows none."""
    lists: dict[str, list[str]] = {}
    said: dict[str, str] = {}
    current: list[str] = []
    for line in text.splitlines():
        field = FIELD.match(line)
        key = field[1].lower() if field else ""
        if field and " " in key:
            current = lists.setdefault(key, [])
            current += [field[2]] if field[2] else []
        elif field:
            said[key] = field[2]
        elif line.strip(" :"):
            current.append(line.strip().removeprefix(":").strip().lstrip(INSTALLED_MARKS))
    title = said.get("group") or said.get("name") or next(iter(lists.pop("environment group", [])), "")
    if not title:
        return None
    return Group(
        title=title,
        id=said.get("id") or said.get("group-id", ""),
        description=said.get("description", ""),
        groups=tuple(lists.get("mandatory groups", ())),
        optional_groups=tuple(lists.get("optional groups", ())),
        **{part: tuple(lists.get(f"{part} packages", ())) for part in PARTS},
    )


def groups_of(text: str) -> dict[str, list[str]]:
    """The groups by Salt's keys (``available``, ``installed environments`` …)."""
    found: dict[str, list[str]] = {"installed": [], "available": []}
    if text.lstrip().startswith("ID "):
        return _of_columns(text, found)
    current: list[str] = []
    for line in text.splitlines():
        if head := SECTION.match(line):
            current = found.setdefault(head[1].lower() + KINDS[head[2].lower()], [])
        elif line.strip():
            current.append(line.strip())
    return found


def _of_columns(text: str, found: dict[str, list[str]]) -> dict[str, list[str]]:
    """Parse the columns of dnf 5: ID, name, whether it is installed."""
    for line in text.strip().splitlines()[1:]:
        _, _, rest = line.partition(" ")
        name, _, installed = rest.strip().rpartition(" ")
        found["installed" if installed == "yes" else "available"].append(name.strip())
    return found
