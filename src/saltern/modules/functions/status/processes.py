"""``status``: processes, and logged-in users."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import os
from collections.abc import Iterator

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.programs import PLAIN_WORDS

LOGIN = ("user", "tty", "login", "idle", "jcpu", "pcpu")


def _commands() -> Iterator[tuple[str, str]]:
    """All processes: the ID, and the command line, or the name in brackets if there is none."""
    for name in sorted(filter(str.isdigit, os.listdir("/proc")), key=int):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                line = file.read().rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace")
            if not line:
                with open(f"/proc/{name}/comm", encoding="utf-8", errors="replace") as file:
                    line = f"[{file.read().strip()}]"
        except OSError:
            continue  # it has ended
        yield name, line


@function
def pid(ctx: Context, sig: str) -> str:
    """The IDs of the processes whose command line contains a text, one per line.

    Args:
        sig: the text.

    Example:
        ```console
        $ saltern call status.pid http.server
        ```
    """
    mine = str(os.getpid())
    return "\n".join(name for name, line in _commands() if sig in line and name != mine)


@function
def procs(ctx: Context) -> dict[str, object]:
    """All processes by ID: their user and command line.

    Example:
        ```console
        $ saltern call status.procs
        ```
    """
    import pwd

    found: dict[str, object] = {}
    for name, line in _commands():
        try:
            uid = os.stat(f"/proc/{name}").st_uid
        except OSError:
            continue
        try:
            user = pwd.getpwuid(uid).pw_name
        except KeyError:
            user = str(uid)
        found[name] = {"user": user, "cmd": line}
    return found


@function
def w(ctx: Context) -> list[dict[str, str]]:
    """The logged-in users, since when, and their commands.

    Example:
        ```console
        $ saltern call status.w
        ```
    """
    rows = (line.split() for line in ctx.host.run(["w", "-fh"], env=PLAIN_WORDS).out.splitlines())
    return [
        {**dict(zip(LOGIN, row, strict=False)), "what": " ".join(row[6:])} for row in rows if len(row) > 5
    ]
