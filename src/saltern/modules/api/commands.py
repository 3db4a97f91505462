"""Run commands for the functions and states of ``cmd``: Salt's options → one ``Ran``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.system.host import kept_runner
from saltern.system.process import UnknownUser, look_up

Command = str | Sequence[str]

# Output is read by programs and compared by states, so it has a fixed language.
LOCALE: dict[str, str] = dict.fromkeys(
    (
        "LC_CTYPE",
        "LC_NUMERIC",
        "LC_TIME",
        "LC_COLLATE",
        "LC_MONETARY",
        "LC_MESSAGES",
        "LC_PAPER",
        "LC_NAME",
        "LC_ADDRESS",
        "LC_TELEPHONE",
        "LC_MEASUREMENT",
        "LC_IDENTIFICATION",
        "LANGUAGE",
    ),
    "C",
)


class Options(Struct, frozen=True, kw_only=True):
    """How to run a command. ``shell`` None is the machine's; ``in_shell`` sets whether to use one."""

    in_shell: bool = True
    shell: str | None = None
    cwd: str | None = None
    runas: str | None = None
    env: object = None
    clean_env: bool = False
    prepend_path: str | None = None
    stdin: str | None = None
    umask: object = None
    timeout: float | None = None
    ignore_timeout: bool = False
    success_retcodes: object = None
    success_stdout: object = None
    success_stderr: object = None
    merge_err: bool = False
    rstrip: bool = True
    reset_system_locale: bool = True
    root: str | None = None
    bg: bool = False
    kept: bool = True  # it outlives us, if the run has a journal


class Done(Struct, frozen=True, kw_only=True):
    """The result of a command. ``retcode`` is None for a command in the background."""

    pid: int
    retcode: int | None
    stdout: str = ""
    stderr: str = ""
    timed_out: bool = False
    started: bool = True
    lost: bool = False

    def asdict(self) -> dict[str, object]:
        return {"pid": self.pid, "retcode": self.retcode, "stdout": self.stdout, "stderr": self.stderr}


PLAIN = Options()


def execute(ctx: Context, command: Command, options: Options = PLAIN) -> Done:
    """Run a command. Raises ``BadArgument`` if the user, shell, directory or environment is invalid."""
    user = options.runas or ctx.runas
    cwd, shell = _directory(options.cwd, user), _shell(ctx, options)
    if isinstance(command, str) and not options.in_shell:
        command = words(command)
    if options.root or options.bg:
        command = _wrap([shell, "-c", command] if isinstance(command, str) else command, options)
    run = kept_runner(ctx.host) if options.kept else ctx.host.run
    ran = run(
        command,
        shell=shell,
        cwd=cwd,
        env=_environment(options),
        clean_env=options.clean_env,
        user=user,
        stdin=options.stdin,
        umask=octal(options.umask),
        timeout=options.timeout,
        merge_err=options.merge_err,
    )
    done = Done(
        pid=ran.pid,
        retcode=-ran.signal or ran.code,
        stdout=ran.out.rstrip() if options.rstrip else ran.out,
        stderr=ran.err.rstrip() if options.rstrip else ran.err,
        timed_out=ran.timed_out,
        started=ran.pid > 0,
        lost=ran.lost,
    )
    return _apply_overrides(done, options)


def _apply_overrides(done: Done, options: Options) -> Done:
    """The result with the exit code after all options that override it."""
    if done.timed_out:
        note = f"Timed out after {options.timeout:g} seconds"
        said = f"{done.stdout}\n{note}" if done.stdout else note
        return replace(done, retcode=0 if options.ignore_timeout else 1, stdout=said)
    if options.bg and done.retcode == 0:
        return replace(done, pid=int(done.stdout or 0), retcode=None, stdout="")
    if done.retcode == 0:
        return done
    forgiven = (
        str(done.retcode) in _parts(options.success_retcodes)
        or any(text in done.stdout for text in _parts(options.success_stdout))
        or any(text in done.stderr for text in _parts(options.success_stderr))
    )
    return replace(done, retcode=0) if forgiven else done


def list_of_texts(value: object) -> list[str]:
    if value is None:
        return []
    return [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]


def _parts(value: object) -> list[str]:
    """The items of a list, or of a text with commas, without empty ones, which every output contains."""
    given = value.split(",") if isinstance(value, str) else list_of_texts(value)
    return [one for one in (part.strip() for part in given) if one]


def words(command: str) -> list[str]:
    """The words of a command line, as a shell would split it."""
    import shlex

    try:
        found = shlex.split(command)
    except ValueError as problem:
        raise BadArgument(f"cannot split the command {command!r}: {str(problem).lower()}") from None
    if not found:
        raise BadArgument("the command is empty")
    return found


def octal(umask: object) -> int | None:
    """The umask; YAML reads ``077`` as the number 77, which means 077."""
    if umask is None:
        return None
    try:
        return int(str(umask).removeprefix("0o"), 8)
    except ValueError:
        raise BadArgument(f"umask needs an octal number such as 077, got {umask!r}") from None


def _directory(cwd: str | None, user: str | None) -> str:
    if cwd is None:
        home = _home(user)
        return home if os.path.isdir(home) else "/"
    cwd = os.path.expanduser(cwd)
    if not os.path.isabs(cwd) or not os.path.isdir(cwd):
        raise BadArgument(f'Desired working directory "{cwd}" is not available')
    return cwd


def _home(user: str | None) -> str:
    if not user:
        return os.path.expanduser("~")
    try:
        return look_up(user).home
    except UnknownUser:
        raise BadArgument(f"User '{user}' is not available") from None


def _shell(ctx: Context, options: Options) -> str:
    shell = options.shell or str(ctx.grains.get("shell") or "/bin/sh")
    if options.shell and not os.access(shell, os.X_OK) and "/" in shell:
        raise BadArgument(f"The shell {shell} is not available")
    return shell


def environment(given: object) -> dict[str, str]:
    """The variables of ``env``: a mapping, or a list of mappings and ``NAME=value``."""
    if given is None or given == "":
        return {}
    items = given if isinstance(given, list) else [given]
    result: dict[str, str] = {}
    for item in items:
        if isinstance(item, Mapping):
            result |= {str(key): "" if value is None else str(value) for key, value in item.items()}
        elif isinstance(item, str) and isinstance(given, list):
            name, _, value = item.partition("=")
            result[name] = value
        else:
            raise BadArgument(f"env needs a mapping or a list of mappings, got {item!r}")
    return result


def _environment(options: Options) -> dict[str, str]:
    result = dict(LOCALE) if options.reset_system_locale else {}
    if options.env:
        result |= environment(options.env)
    if options.prepend_path:
        before = result.get("PATH", os.environ.get("PATH", os.defpath))
        result["PATH"] = f"{options.prepend_path}{os.pathsep}{before}"
    return result


# The shell starts it, prints its process ID and exits, so that nothing waits for it.
BACKGROUND = '"$@" </dev/null >/dev/null 2>&1 & echo $!'


def _wrap(argv: Sequence[str], options: Options) -> list[str]:
    inner = ["chroot", options.root, *argv] if options.root else list(argv)
    return ["/bin/sh", "-c", BACKGROUND, "sh", *inner] if options.bg else inner


def run_guard(ctx: Context, command: str, given: Mapping[str, object]) -> int:
    """The exit code of a condition, with the options of its state."""
    values = {name: value for name, value in given.items() if value is not None}
    texts = {
        name: str(values[name])
        for name in ("cwd", "root", "runas", "prepend_path", "shell")
        if name in values
    }
    timeout = values.get("timeout")
    options = Options(
        env=values.get("env"),
        umask=values.get("umask"),
        timeout=float(str(timeout)) if timeout else None,
        success_retcodes=values.get("success_retcodes"),
        kept=False,
        **texts,  # type: ignore[arg-type]
    )
    code = execute(ctx, command, options).retcode
    return 0 if code is None else code
