"""The types for ``pkgrepo`` and the repository files of package managers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct


class DesiredRepository(Struct, frozen=True, kw_only=True):
    """The arguments of a ``pkgrepo`` state; None if not given."""

    name: str
    file: str | None = None
    enabled: bool | None = None
    clean_file: bool = False
    dist: str | None = None
    comps: tuple[str, ...] = ()
    architectures: str | None = None
    signedby: str | None = None
    key_urls: tuple[str, ...] = ()
    key_text: str | None = None
    keyids: tuple[str, ...] = ()
    keyserver: str | None = None
    values: Mapping[str, object] = {}  # written to the file unchanged, for dnf and others
    ppa: str | None = None
    copr: str | None = None


class RepositoryPlan(Struct, frozen=True, kw_only=True):
    """The changes, the function that makes them, and the facts about the repository."""

    changes: dict[str, object]
    act: Callable[[], None]
    data: dict[str, object]
