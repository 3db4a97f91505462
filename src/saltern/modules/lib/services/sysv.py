"""Init scripts in /etc/init.d, and their links in /etc/rc?.d."""

from __future__ import annotations

import os
import re

from saltern.modules.api.context import Context
from saltern.modules.api.programs import has, tool
from saltern.modules.api.refused import Refused
from saltern.modules.lib.services.manager import Service
from saltern.modules.lib.services.scripts import CLEAN, Scripted, run_script

SCRIPTS = "/etc/init.d"
LEVELS = "/etc"  # the directory of rc2.d … rc5.d; Red Hat links /etc/rc2.d to /etc/rc.d/rc2.d
NOT_SERVICES = frozenset({"README", "functions", "skeleton", "rc", "rcS", "halt", "killall", "single"})
TABLE = {
    # program: its arguments to enable and to disable
    "update-rc.d": ((("defaults",), ("enable",)), (("disable",),)),
    "chkconfig": ((("on",),), (("off",),)),
}


class InitScripts(Scripted):
    kind = "sysv"

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def look(self, name: str) -> Service:
        path = _path(name)
        if not os.access(path, os.X_OK):
            return Service(name=name, exists=False)
        ran = self._ctx.host.run([path, "status"], cwd="/", env=CLEAN, clean_env=True)
        said = (ran.out.strip() or ran.err.strip()).splitlines()
        return Service(
            name=name,
            exists=True,
            running=ran.code == 0,
            enabled=_enabled(name),
            detail=said[-1] if said else f"status says {ran.code}",
        )

    def names(self) -> list[str]:
        found = os.listdir(SCRIPTS) if os.path.isdir(SCRIPTS) else []
        return sorted(
            one
            for one in found
            if one not in NOT_SERVICES
            and not one.startswith(".")
            and os.path.isfile(f"{SCRIPTS}/{one}")
            and os.access(f"{SCRIPTS}/{one}", os.X_OK)
        )

    def _do(self, verb: str, name: str) -> None:
        run_script(self._ctx, _path(name), verb)

    def enable(self, name: str) -> None:
        self._switch(name, 0)

    def disable(self, name: str) -> None:
        self._switch(name, 1)

    def _switch(self, name: str, way: int) -> None:
        _path(name)
        program = next((one for one in TABLE if has(one)), None)
        if program is None:
            raise Refused(f"neither {' nor '.join(TABLE)} is on this machine: services cannot be enabled")
        for words in TABLE[program][way]:
            tool(self._ctx, program, name, *words)

    def mask(self, name: str, *, runtime: bool = False) -> None:  # noqa: ARG002
        raise Refused(f"{name}: init scripts cannot be masked; use service.disabled")

    def unmask(self, name: str, *, runtime: bool = False) -> None:  # noqa: ARG002
        raise Refused(f"{name}: init scripts cannot be masked, nor unmasked")


def _path(name: str) -> str:
    if not name or "/" in name or name.startswith((".", "-")):
        raise Refused(f"{name!r} cannot be the name of a service")
    return f"{SCRIPTS}/{name}"


def _enabled(name: str) -> bool:
    link = re.compile(rf"S\d\d{re.escape(name)}")
    levels = (f"{LEVELS}/rc{level}.d" for level in "2345S")
    return any(link.fullmatch(one) for level in levels if os.path.isdir(level) for one in os.listdir(level))
