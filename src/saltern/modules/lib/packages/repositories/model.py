"""What ``pkgrepo`` asks of the one who knows the files of a package manager."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct


class DesiredRepository(Struct, frozen=True, kw_only=True):
    """Everything a ``pkgrepo`` state says; None is nothing said."""

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
    values: Mapping[str, object] = {}  # what goes into the file as it is, for dnf and the like
    ppa: str | None = None
    copr: str | None = None


class RepositoryPlan(Struct, frozen=True, kw_only=True):
    """What would change, how to change it, and what is known of the repository."""

    changes: dict[str, object]
    act: Callable[[], None]
    data: dict[str, object]
