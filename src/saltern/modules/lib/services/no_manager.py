"""A machine without a service manager has no services: nothing runs there, and nothing can be started."""

# ruff: noqa: ARG002 - the signatures are those of every manager

from __future__ import annotations

from saltern.modules.api.refused import Refused
from saltern.modules.lib.services.manager import Service

WHY = "no service manager was found: neither systemd, nor OpenRC, nor init scripts"


class Nothing:
    kind = "none"

    def look(self, name: str) -> Service:
        return Service(name=name, exists=False, detail=WHY)

    def names(self) -> list[str]:
        return []

    def start(self, name: str, *, no_block: bool = False) -> None:
        raise Refused(WHY)

    def stop(self, name: str, *, no_block: bool = False) -> None:
        raise Refused(WHY)

    def restart(self, name: str, *, no_block: bool = False) -> None:
        raise Refused(WHY)

    def reload(self, name: str, *, no_block: bool = False) -> None:
        raise Refused(WHY)

    def force_reload(self, name: str, *, no_block: bool = False) -> None:
        raise Refused(WHY)

    def enable(self, name: str) -> None:
        raise Refused(WHY)

    def disable(self, name: str) -> None:
        raise Refused(WHY)

    def mask(self, name: str, *, runtime: bool = False) -> None:
        raise Refused(WHY)

    def unmask(self, name: str, *, runtime: bool = False) -> None:
        raise Refused(WHY)
