"""The interface of service managers, and the data of a service."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct


class Service(Struct, frozen=True, kw_only=True):
    """The state of a service. ``enabled`` is None if it cannot be enabled or disabled."""

    name: str
    exists: bool
    running: bool = False
    enabled: bool | None = False
    masked: str = ""  # "", "masked", "runtime masked"
    detail: str = ""  # the manager's own name of its state

    def asdict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "exists": self.exists,
            "running": self.running,
            "enabled": self.enabled,
            "masked": bool(self.masked),
        }


class Manager(Protocol):
    """Every method but ``look`` changes something, and raises ``Refused`` if it cannot."""

    kind: str

    def look(self, name: str) -> Service: ...
    def names(self) -> list[str]: ...

    def start(self, name: str, *, no_block: bool = False) -> None: ...
    def stop(self, name: str, *, no_block: bool = False) -> None: ...
    def restart(self, name: str, *, no_block: bool = False) -> None: ...
    def reload(self, name: str, *, no_block: bool = False) -> None: ...
    def force_reload(self, name: str, *, no_block: bool = False) -> None: ...

    def enable(self, name: str) -> None: ...
    def disable(self, name: str) -> None: ...
    def mask(self, name: str, *, runtime: bool = False) -> None: ...
    def unmask(self, name: str, *, runtime: bool = False) -> None: ...
