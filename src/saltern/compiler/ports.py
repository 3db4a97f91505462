"""What the compiler knows of the world: a loader of files by their names."""

from __future__ import annotations

from typing import Protocol

from saltern.language.source import Mark, Path, SlsRef
from saltern.sources.tree import SlsSource


class Loaded(Protocol):
    """A rendered file: its data, and the way from any value back to its place."""

    @property
    def ref(self) -> SlsRef: ...
    @property
    def data(self) -> object: ...
    @property
    def file(self) -> str: ...
    @property
    def is_init(self) -> bool: ...
    def mark(self, path: Path = ()) -> Mark: ...


class Loader(Protocol):
    def load(self, ref: SlsRef) -> Loaded | None:
        """The rendered file, or None if there is none. Raises ``CompileError``."""
        ...

    def names(self, env: str) -> list[str]:
        """Every SLS of the environment, sorted."""
        ...

    def where(self, ref: SlsRef) -> Mark | None:
        """The line that asks for a file that no other includes, if there is one: that of the top file."""
        ...

    def knows(self, env: str) -> bool: ...


class Sources(Protocol):
    """Files as they lie in the tree, for what is rendered later."""

    def source(self, ref: SlsRef) -> SlsSource | None:
        """The file, or None. Raises ``CompileError``."""
        ...

    def names(self, env: str) -> list[str]: ...
