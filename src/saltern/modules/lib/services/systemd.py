"""systemd: one ``systemctl show`` returns all data of a unit."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused
from saltern.modules.lib.services.manager import Service
from saltern.system.waits import report_wait

PROPERTIES = "Id,LoadState,ActiveState,SubState,UnitFileState,NeedDaemonReload,Type,Result"
RUNNING = frozenset({"active", "reloading", "refreshing"})
ENABLED: dict[str, bool | None] = {
    "enabled": True,
    "enabled-runtime": True,
    "linked": False,
    "linked-runtime": False,
    "disabled": False,
    "masked": False,
    "masked-runtime": False,
    "": False,
    # Cannot be enabled: they have no [Install] section, or another unit starts them.
    "static": None,
    "alias": None,
    "indirect": None,
    "generated": None,
    "transient": None,
    "bad": False,
}
MASKS = {"masked": "masked", "masked-runtime": "runtime masked"}
SUFFIXES = (
    ".service",
    ".socket",
    ".device",
    ".mount",
    ".automount",
    ".swap",
    ".target",
    ".path",
    ".timer",
    ".slice",
    ".scope",
)
PATIENCE = 30  # seconds for a unit to become active after systemctl has returned


class Systemd:
    kind = "systemd"

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def look(self, name: str) -> Service:
        seen = self.show(name)
        for attempt in range(PATIENCE):
            if seen.get("ActiveState") != "activating" or seen.get("SubState") == "auto-restart":
                break
            if attempt == 1:
                report_wait(f"{unit(name)} to become active, at most {PATIENCE} seconds")
            self._ctx.clock.sleep(1)
            seen = self.show(name)
        file_state = seen.get("UnitFileState", "")
        enabled = ENABLED.get(file_state, False)
        if file_state == "generated":  # from an init script, which has its own links
            enabled = self._ctx.host.run(["systemctl", "is-enabled", unit(name)]).code == 0
        return Service(
            name=name,
            exists=seen.get("LoadState", "not-found") not in ("not-found", ""),
            running=seen.get("ActiveState") in RUNNING,
            enabled=enabled,
            masked=MASKS.get(file_state, "masked" if seen.get("LoadState") == "masked" else ""),
            detail=_detail(seen),
        )

    def show(self, name: str, properties: str = PROPERTIES) -> dict[str, str]:
        argv = ["systemctl", "show", "--no-pager"]
        ran = tool(self._ctx, *argv, *([f"--property={properties}"] if properties else []), unit(name))
        seen = dict(line.split("=", 1) for line in ran.out.splitlines() if "=" in line)
        if properties and "LoadState" not in seen:  # replacements of systemctl know one property or all
            return self.show(name, "")
        return seen

    def names(self) -> list[str]:
        listing = tool(
            self._ctx, "systemctl", "list-unit-files", "--no-legend", "--no-pager", "--type=service"
        )
        return sorted(
            {line.split()[0].removesuffix(".service") for line in listing.out.splitlines() if line.split()}
        )

    def start(self, name: str, *, no_block: bool = False) -> None:
        self._do("start", name, no_block=no_block)

    def stop(self, name: str, *, no_block: bool = False) -> None:
        self._do("stop", name, no_block=no_block)

    def restart(self, name: str, *, no_block: bool = False) -> None:
        self._do("restart", name, no_block=no_block)

    def reload(self, name: str, *, no_block: bool = False) -> None:
        self._do("reload", name, no_block=no_block)

    def force_reload(self, name: str, *, no_block: bool = False) -> None:
        self._do("force-reload", name, no_block=no_block)

    def enable(self, name: str) -> None:
        self._do("enable", name)

    def disable(self, name: str) -> None:
        self._do("disable", name)

    def mask(self, name: str, *, runtime: bool = False) -> None:
        self._do("mask", name, runtime=runtime)

    def unmask(self, name: str, *, runtime: bool = False) -> None:
        self._do("unmask", name, runtime=runtime)

    def daemon_reload(self) -> None:
        tool(self._ctx, "systemctl", "daemon-reload")

    def _do(self, verb: str, name: str, *, no_block: bool = False, runtime: bool = False) -> None:
        seen = self.show(name)
        if seen.get("NeedDaemonReload") == "yes":  # its file has changed since systemd read it
            self.daemon_reload()
        options = [flag for flag, on in (("--no-block", no_block), ("--runtime", runtime)) if on]
        ran = self._ctx.host.run(["systemctl", verb, *options, unit(name)])
        if ran.code:
            raise Refused(f"systemctl {verb} {unit(name)}: {ran.err.strip() or f'exit code {ran.code}'}")


def unit(name: str) -> str:
    """The full name of a unit. Raises ``Refused`` for a name that systemctl would take as an option."""
    if not name or name.startswith("-") or any(sign.isspace() for sign in name):
        raise Refused(f"{name!r} cannot be the name of a service")
    return name if name.endswith(SUFFIXES) else f"{name}.service"


def _detail(seen: dict[str, str]) -> str:
    state = f"{seen.get('ActiveState', '?')} ({seen.get('SubState', '?')})"
    if seen.get("Type") == "oneshot" and seen.get("Result") == "success":
        return f"{state}; it is a oneshot unit that does not stay active, unless RemainAfterExit is set"
    return state
