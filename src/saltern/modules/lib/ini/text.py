"""An INI file as lines: options are read and changed, comments and order stay."""

from __future__ import annotations

import re

from saltern.modules.api.refused import one_line

HEADER = re.compile(r"^\s*\[(.+?)\]\s*(?:[#;].*)?$")
COMMENTS = ("#", ";")
Options = dict[str, str]


class IniText:
    """The lines before the first header are in the section without a name.

    An indented line without the separator continues the value before it. If an option
    is there twice, the last one counts, as for most readers.
    """

    def __init__(self, text: str, separator: str = "=", *, no_spaces: bool = False) -> None:
        self._lines = text.split("\n")
        self._ended = not text or self._lines[-1] == ""
        if self._lines[-1] == "":
            self._lines.pop()
        self._separator = separator
        self._no_spaces = no_spaces
        self._between = separator if no_spaces or separator.isspace() else f" {separator.strip()} "
        mark = re.escape(separator) if separator.isspace() else re.escape(separator.strip())
        self._option = re.compile(
            rf"^(\s*)([^\s].*?)(\s*{mark}\s*)(.*)$" if mark else r"^(\s*)(\S+)(\s+)(.*)$"
        )

    def __str__(self) -> str:
        text = "\n".join(self._lines)
        return f"{text}\n" if self._lines and self._ended else text

    # -- reading -----------------------------------------------------------------------------------

    def sections(self) -> list[str]:
        """The names of the sections that have a header, in their order."""
        found = (HEADER.match(line) for line in self._lines)
        return list(dict.fromkeys(match[1].strip() for match in found if match))

    def _spans(self, section: str) -> list[tuple[int, int]]:
        """The line ranges of a section, without its headers. A section may have several parts."""
        spans: list[tuple[int, int]] = []
        start, name = 0, ""
        for number, line in enumerate([*self._lines, "[]"]):
            match = HEADER.match(line) if number < len(self._lines) else None
            if match or number == len(self._lines):
                if name == section and (name or number > start):
                    spans.append((start, number))
                start, name = number + 1, match[1].strip() if match else ""
        return spans

    def _rows(self, section: str) -> list[tuple[str, str, int, int]]:
        """Name, value, first line and line after the last, of every option of the section."""
        rows: list[tuple[str, str, int, int]] = []
        for start, end in self._spans(section):
            fresh = True  # nothing to resume yet
            for number in range(start, end):
                line = self._lines[number]
                bare = line.strip()
                if not bare or bare.startswith(COMMENTS):
                    continue
                match = self._option.match(line)
                if match is None and line[0].isspace() and not fresh:
                    name, value, first, _ = rows.pop()
                    rows.append((name, f"{value}\n{bare}".strip("\n"), first, number + 1))
                    continue
                row = (match[2].strip(), match[4].strip()) if match else (bare, "")
                rows.append((*row, number, number + 1))
                fresh = False
        return rows

    def options(self, section: str) -> Options:
        return {name: value for name, value, _, _ in self._rows(section)}

    # -- changing ----------------------------------------------------------------------------------

    def set(self, section: str, option: str, value: str) -> None:
        """Set an option, in its line or after the last option of its section."""
        one_line(option, "the option")
        rows = self._rows(section)
        lines = value.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        more = [f"    {line}" for line in lines[1:]]
        for name, _, first, after in reversed(rows):
            if name == option:
                match = self._option.match(self._lines[first])
                kept = match[3] if match and not self._no_spaces else ""
                head = (match[1] + match[2] if match else option) + (kept or self._between)
                self._lines[first:after] = [f"{_room(head, lines[0])}{lines[0]}".rstrip(), *more]
                return
        if not rows and section:
            self.add_section(section)
        place, indent = self._place(section, rows)
        self._lines[place:place] = [f"{indent}{option}{self._between}{lines[0]}".rstrip(), *more]

    def _place(self, section: str, rows: list[tuple[str, str, int, int]]) -> tuple[int, str]:
        if rows:
            line = self._lines[rows[-1][2]]
            return rows[-1][3], line[: len(line) - len(line.lstrip())]
        return (self._spans(section)[-1][0] if section else 0), ""

    def add_section(self, section: str) -> None:
        if section in self.sections():
            return
        if self._lines and self._lines[-1].strip():
            self._lines.append("")
        self._lines.append(f"[{one_line(section, 'the section')}]")
        self._ended = True

    def remove(self, section: str, option: str) -> None:
        for name, _, first, after in reversed(self._rows(section)):
            if name == option:
                del self._lines[first:after]

    def remove_section(self, section: str) -> None:
        """The header and everything up to the next one."""
        for start, end in reversed(self._spans(section)):
            del self._lines[max(start - 1, 0) : end]


def _room(head: str, value: str) -> str:
    """The head with a blank after the separator, which an empty value may lack."""
    stripped = head.rstrip()
    return f"{head} " if value and head == stripped and stripped[:-1].endswith(" ") else head
