"""Systemd where it does not run: in a chroot, an image build, or a container without an init.

Units are enabled, disabled and masked by the links that ``systemctl`` creates without a running manager, also
for ``Also=``, ``Alias=`` and templates. Nothing is started or stopped.
"""

# ruff: noqa: ARG002 - the signatures are those of every manager

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.programs import has
from saltern.modules.api.refused import Refused
from saltern.modules.lib.services.manager import Service
from saltern.modules.lib.services.systemd import ENABLED, MASKS, unit

BOOTED = "/run/systemd/system"
# Other inits that start and stop services.
INITS = frozenset({"init", "openrc-init", "runit", "s6-svscan", "finit"})
NOTHING_TO_DO = "Running in OFFLINE mode. Nothing to do"


def is_offline() -> bool:
    """True if there is a ``systemctl``, but no init that it could talk to."""
    if not has("systemctl"):
        return False
    if os.environ.get("SYSTEMD_OFFLINE", "").lower() in ("1", "yes", "true", "on") or _in_chroot():
        return True
    return not os.path.isdir(BOOTED) and _first_process() not in INITS


def _in_chroot() -> bool:
    """True if the first process has another root; false if that cannot be read."""
    try:
        theirs, ours = os.stat("/proc/1/root"), os.stat("/")
    except OSError:
        return False
    return (theirs.st_dev, theirs.st_ino) != (ours.st_dev, ours.st_ino)


def _first_process() -> str:
    try:
        with open("/proc/1/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


class Offline:
    kind = "offline"

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def look(self, name: str) -> Service:
        ran = self._ctx.host.run(["systemctl", "--root=/", "is-enabled", unit(name)])
        words = ran.out.split()
        state = words[-1] if words else "not-found"
        exists = state != "not-found"
        return Service(
            name=name,
            exists=exists,
            enabled=ENABLED.get(state, False) if exists else False,
            masked=MASKS.get(state, ""),
            detail=state,
        )

    def names(self) -> list[str]:
        argv = ["systemctl", "--root=/", "list-unit-files", "--no-legend", "--no-pager", "--type=service"]
        lines = self._ctx.host.run(argv).out.splitlines()
        return sorted({line.split()[0].removesuffix(".service") for line in lines if line.split()})

    def start(self, name: str, *, no_block: bool = False) -> None:
        self._refuse("started", name)

    def stop(self, name: str, *, no_block: bool = False) -> None:
        self._refuse("stopped", name)

    def restart(self, name: str, *, no_block: bool = False) -> None:
        self._refuse("restarted", name)

    def reload(self, name: str, *, no_block: bool = False) -> None:
        self._refuse("reloaded", name)

    def force_reload(self, name: str, *, no_block: bool = False) -> None:
        self._refuse("reloaded", name)

    def _refuse(self, verb: str, name: str) -> None:
        raise Refused(f"{name} cannot be {verb}: no init runs here")

    def enable(self, name: str) -> None:
        self._do("enable", name)

    def disable(self, name: str) -> None:
        self._do("disable", name)

    def mask(self, name: str, *, runtime: bool = False) -> None:
        self._do("mask", name, *(["--runtime"] if runtime else []))

    def unmask(self, name: str, *, runtime: bool = False) -> None:
        self._do("unmask", name, *(["--runtime"] if runtime else []))

    def _do(self, verb: str, name: str, *options: str) -> None:
        ran = self._ctx.host.run(["systemctl", "--root=/", verb, *options, unit(name)])
        if ran.code:
            raise Refused(f"systemctl {verb} {unit(name)}: {ran.err.strip() or f'exit code {ran.code}'}")
