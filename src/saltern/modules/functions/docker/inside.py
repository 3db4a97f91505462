"""``docker``: run commands in existing containers.

The command is not run by a shell; for that, use ``sh -c '…'``.
"""

from __future__ import annotations

from typing import Any

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import Ignored
from saltern.modules.functions.docker.container_query import the
from saltern.modules.lib.containers.engine import engine
from saltern.modules.lib.containers.stream import output
from saltern.modules.lib.containers.values import words


def _execute(ctx: Context, name: str, cmd: object, stdin: str | None, user: str | None) -> dict[str, Any]:
    docker = engine(ctx)
    container = the(docker, name)["Id"]
    body = {
        "Cmd": words(cmd),
        "AttachStdin": stdin is not None,
        "AttachStdout": True,
        "AttachStderr": True,
        "User": user or "",
    }
    made = docker.data("POST", f"/containers/{container}/exec", body=body)
    data = None if stdin is None else stdin.encode()
    printed = docker.talk(f"/exec/{made['Id']}/start", {"Detach": False, "Tty": False}, data)
    out, err = output(printed)
    reported = docker.get(f"/exec/{made['Id']}/json")
    return {
        "pid": reported.get("Pid", 0),
        "retcode": reported.get("ExitCode"),
        "stdout": out.rstrip(),
        "stderr": err.rstrip(),
    }


@function
def run(
    ctx: Context,
    /,
    name: str,
    cmd: str | list[str],
    stdin: str | None = None,
    user: str | None = None,
    **_: Ignored,
) -> str:
    """Run a command in a container. Returns its output.

    Args:
        name: the name or ID of the container.
        cmd: the command, a line or a list of words.
        stdin: the text it reads from stdin.
        user: the user it runs as.

    Example:
        ```console
        $ saltern call docker.run web 'ls /etc'
        ```
    """
    done = _execute(ctx, name, cmd, stdin, user)
    return "\n".join(part for part in (done["stdout"], done["stderr"]) if part)


@function
def run_all(
    ctx: Context,
    /,
    name: str,
    cmd: str | list[str],
    stdin: str | None = None,
    user: str | None = None,
    **_: Ignored,
) -> dict[str, Any]:
    """Run a command in a container. Returns ``{pid, retcode, stdout, stderr}``.

    Args:
        name: the name or ID of the container.
        cmd: the command, a line or a list of words.
        stdin: the text it reads from stdin.
        user: the user it runs as.

    Example:
        ```console
        $ saltern call docker.run_all web 'ls /etc'
        ```
    """
    return _execute(ctx, name, cmd, stdin, user)


@function
def run_stdout(
    ctx: Context,
    /,
    name: str,
    cmd: str | list[str],
    stdin: str | None = None,
    user: str | None = None,
    **_: Ignored,
) -> str:
    """Run a command in a container. Returns its stdout.

    Args:
        name: the name or ID of the container.
        cmd: the command, a line or a list of words.
        stdin: the text it reads from stdin.
        user: the user it runs as.

    Example:
        ```console
        $ saltern call docker.run_stdout web 'cat /etc/hostname'
        ```
    """
    return str(_execute(ctx, name, cmd, stdin, user)["stdout"])


@function
def run_stderr(
    ctx: Context,
    /,
    name: str,
    cmd: str | list[str],
    stdin: str | None = None,
    user: str | None = None,
    **_: Ignored,
) -> str:
    """Run a command in a container. Returns its stderr.

    Args:
        name: the name or ID of the container.
        cmd: the command, a line or a list of words.
        stdin: the text it reads from stdin.
        user: the user it runs as.

    Example:
        ```console
        $ saltern call docker.run_stderr web 'ls /none'
        ```
    """
    return str(_execute(ctx, name, cmd, stdin, user)["stderr"])


@function
def retcode(
    ctx: Context,
    /,
    name: str,
    cmd: str | list[str],
    stdin: str | None = None,
    user: str | None = None,
    **_: Ignored,
) -> int:
    """Run a command in a container. Returns its exit code.

    Args:
        name: the name or ID of the container.
        cmd: the command, a line or a list of words.
        stdin: the text it reads from stdin.
        user: the user it runs as.

    Example:
        ```console
        $ saltern call docker.retcode web 'test -e /etc/passwd'
        ```
    """
    return int(_execute(ctx, name, cmd, stdin, user)["retcode"])
