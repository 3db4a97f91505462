"""Places in source files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object  # importing the real one costs as much as a module


class Mark(Struct, frozen=True, order=True):
    """A place in a file that the user can open. ``line`` and ``column`` start at 1; 0 means unknown."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


class Unquoted(Mark, frozen=True, order=True):
    """A place whose lines are not shown with a problem: a configuration may contain passwords."""


class SlsRef(Struct, frozen=True):
    """The name of a state file: ``base:web.nginx``."""

    env: str
    name: str

    def __str__(self) -> str:
        return f"{self.env}:{self.name}"


Step = object  # a key, or an index in a list
Path = tuple[Step, ...]


class Origin(Protocol):
    """The file that data came from, with the place of each value in it.

    Positions are looked up only when a problem is reported, so that they cost nothing in other runs. ``path``
    leads into the data: a key for each mapping, an index or the key of a single-key item for each list.
    """

    @property
    def file(self) -> str: ...

    def mark(self, path: Path = ()) -> Mark: ...


class NoFile:
    """The origin of a state that is not in a file, such as one from the command line; shown as ``<text>``."""

    def __init__(self, text: str) -> None:
        self.file = f"<{text}>"

    def mark(self, _path: Path = ()) -> Mark:
        return Mark(self.file)
