"""The compiler's interface to the files: a loader by name."""

from __future__ import annotations

from typing import Protocol

from saltern.language.source import Mark, Path, SlsRef
from saltern.sources.tree import SlsSource


class Loaded(Protocol):
    """A rendered file: its data, and the place of any value in it."""

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
        """The line of the top file that assigns a file; None if no top file does."""
        ...

    def knows(self, env: str) -> bool: ...


class Sources(Protocol):
    """Files as they are in the tree, for delayed rendering."""

    def source(self, ref: SlsRef) -> SlsSource | None:
        """The file, or None. Raises ``CompileError``."""
        ...

    def names(self, env: str) -> list[str]: ...
