"""One run of pyinfra, its operations reported while it runs."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.commands import environment
from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.lib.engines.drive import Ended, drive, unparsed_step
from saltern.modules.lib.engines.find import find, interpreter
from saltern.modules.lib.engines.flags import flags
from saltern.modules.lib.engines.marked_lines import INSIDE, Listener, why
from saltern.modules.lib.engines.pyinfra.events import Operations
from saltern.modules.lib.engines.scratch import Scratch, json_text, path_on_disk
from saltern.modules.lib.engines.steps import Steps, Verdict, conclude

INSTALL = "pip install pyinfra, into its own environment"
CODES = {1: "a host failed, or the deploy cannot be read", 2: "a wrong option", 130: "interrupted"}
# argument of the state → option of pyinfra
OPTIONS = {
    "limit": "--limit",
    "exclude": "--exclude",
    "group_data": "--group-data",
    "config": "--config",
    "sudo": "--sudo",
    "sudo_user": "--sudo-user",
    "use_sudo_login": "--use-sudo-login",
    "su_user": "--su-user",
    "shell_executable": "--shell-executable",
    "parallel": "--parallel",
    "serial": "--serial",
    "no_wait": "--no-wait",
    "fail_percent": "--fail-percent",
    "retry": "--retry",
    "retry_delay": "--retry-delay",
    "ssh_user": "--ssh-user",
    "ssh_port": "--ssh-port",
    "ssh_key": "--ssh-key",
    "ssh_key_password": "--ssh-key-password",
    "ssh_password": "--ssh-password",
    "diff": "--diff",
}


class Deploy(Struct, frozen=True, kw_only=True):
    """What to run; ``given`` are the options, by the names of ``OPTIONS``."""

    files: list[str]
    cwd: str
    inventory: object
    data: Mapping[str, object]
    given: Mapping[str, object]
    verbosity: int = 0
    bin_dir: str | None = None
    env: object = None
    timeout: float | None = None


def locate(ctx: Context, names: list[str], cwd: str | None) -> tuple[list[str], str]:
    """The files, relative to the directory to run them in; raises ``BadArgument`` if one does not exist."""
    paths = [path_on_disk(ctx, name) for name in names]
    base = os.path.expanduser(cwd) if cwd else os.path.dirname(paths[0])
    if not os.path.isabs(base):
        raise BadArgument(f"the deploy {names[0]} is not an absolute path: give its directory as cwd")
    full = [os.path.join(base, path) for path in paths]
    for path in full:
        if not path.endswith(".py"):
            raise BadArgument(f"a deploy must be a Python file, but {path} does not end with .py")
        if not os.path.isfile(path):
            raise BadArgument(f"no deploy is at {path}")
    return [os.path.relpath(path, base) for path in full], base


def deploy(ctx: Context, wanted: Deploy) -> Result:
    """Run a deploy. A missing program, an unreadable deploy and a failed host are failed results."""
    program = find(ctx, "pyinfra", engine="pyinfra", install=INSTALL, bin_dir=wanted.bin_dir)
    steps = Steps(ctx)
    operations = Operations(steps)
    listener = Listener(operations.handlers)
    with Scratch(ctx) as scratch:
        call = {"argv": _argv(ctx, scratch, wanted), "dry": ctx.test}
        inside = os.path.join(INSIDE, "saltern_pyinfra.py")
        ended = drive(
            ctx,
            "pyinfra",
            [*interpreter(program), inside, scratch.write("call.json", json_text(call))],
            out=listener.read_line,
            cwd=wanted.cwd,
            env={"PYINFRA_PROGRESS": "off", **environment(wanted.env)},
            timeout=wanted.timeout,
        )
    operations.over()
    return _result(wanted, steps, operations, listener, ended)


def _argv(ctx: Context, scratch: Scratch, wanted: Deploy) -> list[str]:
    """The arguments; they may contain secrets, so they are passed in a private file."""
    data = [f"--data={key}={_value(value)}" for key, value in wanted.data.items()]
    mode = ["--dry"] if ctx.test else ["--yes"]
    loud = ["-" + "v" * wanted.verbosity] if wanted.verbosity else []
    inventory = _inventory(ctx, scratch, wanted.inventory)
    return [*mode, *loud, *flags(OPTIONS, wanted.given), *data, "--", inventory, *wanted.files]


def _value(value: object) -> str:
    """A value for pyinfra, which reads numbers and JSON, and everything else as text."""
    if isinstance(value, str):
        return value
    import json

    try:
        return json.dumps(value)
    except (TypeError, ValueError) as problem:
        raise BadArgument(f"data cannot be given to pyinfra: {problem}") from None


def _inventory(ctx: Context, scratch: Scratch, given: object) -> str:
    """A file, hosts, or a mapping of hosts with their data."""
    if isinstance(given, Mapping):
        hosts = [(str(host), dict(data) if isinstance(data, Mapping) else {}) for host, data in given.items()]
        return scratch.write("inventory.py", f"hosts = {hosts!r}\n")
    if isinstance(given, list):
        return ",".join(map(str, given))
    return path_on_disk(ctx, str(given))


def _result(wanted: Deploy, steps: Steps, operations: Operations, listener: Listener, ended: Ended) -> Result:
    if "start" not in listener.heard and ended.code == 0:
        steps.add(unparsed_step(ended, "it has reported nothing"))
    return conclude(
        "pyinfra",
        steps,
        ended,
        Verdict(
            what="operation",
            codes=CODES,
            data={"deploy": wanted.files, "cwd": wanted.cwd, "hosts": operations.hosts},
            why=why(steps, ended),
            warnings=listener.warnings,
        ),
    )
