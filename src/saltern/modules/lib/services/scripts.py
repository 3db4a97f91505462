"""Run init scripts without waiting for a daemon that keeps the script's output open."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.programs import MOST_SHOWN
from saltern.modules.api.refused import Refused
from saltern.system.temporary import private_file

# Output goes to a file instead of a pipe; the command is passed as arguments, never as shell text.
INTO_FILE = 'log=$1; shift; exec "$@" >"$log" 2>&1 </dev/null'
CLEAN = {
    "LC_ALL": "C",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "TERM": "dumb",
}


class Scripted:
    """The operations of a manager whose services are scripts; a script always blocks."""

    force_reload_verb = "force-reload"

    def start(self, name: str, *, no_block: bool = False) -> None:  # noqa: ARG002
        self._do("start", name)

    def stop(self, name: str, *, no_block: bool = False) -> None:  # noqa: ARG002
        self._do("stop", name)

    def restart(self, name: str, *, no_block: bool = False) -> None:  # noqa: ARG002
        self._do("restart", name)

    def reload(self, name: str, *, no_block: bool = False) -> None:  # noqa: ARG002
        self._do("reload", name)

    def force_reload(self, name: str, *, no_block: bool = False) -> None:  # noqa: ARG002
        self._do(self.force_reload_verb, name)

    def _do(self, verb: str, name: str) -> None:
        raise NotImplementedError


def run_script(ctx: Context, *argv: str, clean: bool = True) -> None:
    """Run a script to its end. Raises ``Refused`` with its output if it fails."""
    with private_file("service", suffix=".log") as log:
        ran = ctx.host.run(
            ["/bin/sh", "-c", INTO_FILE, "sh", log, *argv],
            cwd="/",
            env=CLEAN if clean else None,
            clean_env=clean,
        )
        with open(log, "rb") as file:
            said = file.read(MOST_SHOWN).decode("utf-8", "replace").strip()
    if ran.code:
        raise Refused(f"{' '.join(argv)}: {said or ran.err.strip() or f'exit code {ran.code}'}")
