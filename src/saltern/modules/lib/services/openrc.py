"""OpenRC: ``rc-service`` and ``rc-update``."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused
from saltern.modules.lib.services.manager import Service
from saltern.modules.lib.services.scripts import Scripted, run_script


class OpenRc(Scripted):
    kind = "openrc"
    force_reload_verb = "reload"

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def look(self, name: str) -> Service:
        host = self._ctx.host
        if host.run(["rc-service", "--exists", _check_name(name)]).code:
            return Service(name=name, exists=False)
        status = host.run(["rc-service", name, "status"])
        return Service(
            name=name,
            exists=True,
            running=status.code == 0,
            enabled=name in self._levels(),
            detail=status.out.strip() or status.err.strip(),
        )

    def _levels(self) -> dict[str, list[str]]:
        """Each service of a runlevel, with its runlevels: ``sshd | default boot``."""
        rows = (line.split("|", 1) for line in tool(self._ctx, "rc-update", "show").out.splitlines())
        return {row[0].strip(): row[1].split() for row in rows if len(row) == 2 and row[1].split()}

    def names(self) -> list[str]:
        return sorted(tool(self._ctx, "rc-service", "--list").out.split())

    def _do(self, verb: str, name: str) -> None:
        run_script(self._ctx, "rc-service", _check_name(name), verb, clean=False)

    def enable(self, name: str) -> None:
        tool(self._ctx, "rc-update", "add", _check_name(name))

    def disable(self, name: str) -> None:
        tool(self._ctx, "rc-update", "--all", "del", _check_name(name))

    def mask(self, name: str, *, runtime: bool = False) -> None:  # noqa: ARG002
        raise Refused(f"{name}: OpenRC cannot mask a service; use service.disabled")

    def unmask(self, name: str, *, runtime: bool = False) -> None:  # noqa: ARG002
        raise Refused(f"{name}: OpenRC cannot mask a service, nor unmask it")


def _check_name(name: str) -> str:
    if not name or name.startswith("-") or "/" in name:
        raise Refused(f"{name!r} cannot be the name of a service")
    return name
