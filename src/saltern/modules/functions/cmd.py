"""``cmd``: run commands from templates and conditions.

Without ``python_shell=True`` no shell is used: the text is split into words, and ``|``
or ``*`` have no special meaning. ``cmd.shell`` always uses one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from saltern.language.nature import Nature
from saltern.modules.api.commands import Command, Done, Options, execute, list_of_texts
from saltern.modules.api.context import Context
from saltern.modules.api.declare import Function, function, make_docstring
from saltern.modules.api.params import BadArgument, unknown_argument

Finish = Callable[[Done], object]

NATURE = Nature(runs_commands=True)

UNUSED = frozenset(
    [
        "group",
        "use_vt",
        "output_loglevel",
        "output_encoding",
        "log_callback",
        "password",
        "encoded_cmd",
        "saltenv",
        "pillarenv",
        "pillar_override",
        "windows_codepage",
    ]
)


def _call(ctx: Context, cmd: Command, base: Options, options: dict[str, object]) -> Done:
    """Run a command with Salt's keywords; conditions can read its exit code afterwards."""
    raises, ignored = options.pop("raise_err", False), options.pop("ignore_retcode", False)
    hidden = options.pop("hide_output", False)
    if options.pop("redirect_stderr", False):
        base = replace(base, merge_err=True)
    if engine := options.pop("template", None):
        cmd = ctx.templates.text(str(cmd), engine=str(engine), env=ctx.env)
    if not isinstance(cmd, str | list | tuple):
        cmd = str(cmd)
    done = execute(ctx, cmd, _options(ctx, base, options))
    if not done.started and not base.in_shell:
        raise BadArgument(f"cannot run {cmd!r}: {done.stderr or done.stdout}")
    ctx.run.context["retcode"] = 0 if ignored else done.retcode or 0
    if raises and done.retcode:
        raise BadArgument(f"{cmd!r} failed with exit code {done.retcode}: {done.stdout}{done.stderr}")
    return replace(done, stdout="", stderr="") if hidden else done


def _options(ctx: Context, base: Options, options: Mapping[str, object]) -> Options:
    known = Options.__struct_fields__
    given = {key: value for key, value in options.items() if key in known and value is not None}
    shell = options.get("python_shell")
    if shell is not None or ctx.opts.get("cmd_safe", True) is False:
        given["in_shell"] = bool(shell) if shell is not None else True
    for name in options:
        if name not in known and name != "python_shell" and name not in UNUSED and name[:2] != "__":
            raise BadArgument(unknown_argument(name, known))
    return replace(base, **given)


def _make_function(name: str, base: Options, finish: Finish, doc: str) -> Function[..., object]:
    """Create ``cmd.<name>``: the functions differ in their options and in what they return."""

    def body(
        ctx: Context,
        /,
        cmd: Command,
        cwd: str | None = None,
        stdin: str | None = None,
        runas: str | None = None,
        group: str | None = None,  # noqa: ARG001 - Salt's place for it
        shell: str | None = None,
        python_shell: bool | None = None,
        env: object = None,
        **options: object,
    ) -> object:
        options |= {"cwd": cwd, "stdin": stdin, "runas": runas, "shell": shell, "env": env}
        return finish(_call(ctx, cmd, base, {**options, "python_shell": python_shell}))

    body.__doc__ = doc
    return Function(body, name)


def _stdout(done: Done) -> object:
    return done.stdout


WORDS = Options(in_shell=False)
SHELL = Options()

run = _make_function(
    "run",
    Options(in_shell=False, merge_err=True),
    _stdout,
    make_docstring(
        "The output of a command, including errors.",
        "cmd.run 'sort list.txt | head -1' cwd=/srv/app",
        "one",
    ),
)
shell = _make_function(
    "shell",
    Options(merge_err=True),
    _stdout,
    make_docstring(
        "The output of a command in a shell, including errors.", "cmd.shell 'echo $((6 * 7))'", "42"
    ),
)
run_stdout = _make_function(
    "run_stdout",
    WORDS,
    _stdout,
    make_docstring(
        "The output of a command.", "cmd.run_stdout 'cat list.txt' cwd=/srv/app", "one", "two", "three"
    ),
)
run_stderr = _make_function(
    "run_stderr",
    WORDS,
    lambda done: done.stderr,
    make_docstring("The error output of a command.", "cmd.run_stderr 'echo careful >&2'", "careful"),
)
run_all = _make_function(
    "run_all",
    WORDS,
    Done.asdict,
    make_docstring(
        "The pid, retcode, stdout and stderr of a command.",
        "cmd.run_all 'id -un' runas=ada",
        "----------",
        "pid:",
        "    …",
        "retcode:",
        "    0",
        "stderr:",
        "stdout:",
        "    ada",
    ),
)
retcode = _make_function(
    "retcode",
    WORDS,
    lambda done: done.retcode,
    make_docstring("The exit code of a command.", "cmd.retcode 'test -d /srv/app'", "0"),
)
run_bg = _make_function(
    "run_bg",
    Options(in_shell=False, bg=True),
    lambda done: {"pid": done.pid},
    make_docstring(
        "Start a command and do not wait for it.", "cmd.run_bg 'sleep 1'", "----------", "pid:", "    …"
    ),
)


@function
def script(
    ctx: Context,
    /,
    source: str,
    args: object = None,
    cwd: str | None = None,
    stdin: str | None = None,
    runas: str | None = None,
    group: str | None = None,  # noqa: ARG001 - Salt's place for it
    shell: str | None = None,
    env: object = None,
    template: str | None = None,
    saltenv: str | None = None,
    **options: object,
) -> object:
    """Run a script of the tree. Returns what ``run_all`` returns.

    Example:
        ```console
        $ saltern call cmd.script salt://web/hello.sh ada cwd=/srv/app
        local:
        …
            stdout:
                hello ada
        ```
    """
    return _script(
        ctx,
        source,
        args,
        template,
        saltenv,
        options | {"cwd": cwd, "stdin": stdin, "runas": runas, "shell": shell, "env": env},
    ).asdict()


@function
def script_retcode(
    ctx: Context,
    /,
    source: str,
    args: object = None,
    template: str | None = None,
    saltenv: str | None = None,
    **options: object,
) -> int | None:
    """The exit code of a script of the tree.

    Example:
        ```console
        $ saltern call cmd.script_retcode salt://web/check.sh
        local:
            3
        ```
    """
    return _script(ctx, source, args, template, saltenv, options).retcode


def _script(
    ctx: Context,
    source: str,
    args: object,
    template: str | None,
    saltenv: str | None,
    options: dict[str, object],
) -> Done:
    from saltern.modules.lib.scripts import NoScript, run_script

    values = options.pop("context", None)
    try:
        done = run_script(
            ctx,
            source,
            args,
            _options(ctx, SHELL, options),
            template=template,
            values=values if isinstance(values, Mapping) else None,
            env=saltenv or "",
        )
    except NoScript as problem:
        raise BadArgument(str(problem)) from None
    ctx.run.context["retcode"] = done.retcode or 0
    return done


@function
def exec_code(ctx: Context, lang: str, code: object, cwd: str | None = None, args: object = None) -> object:
    """The output of a piece of code, run by the interpreter ``lang``.

    Example:
        ```console
        $ saltern call cmd.exec_code python3 'print(6 * 7)'
        local:
            42
        ```
    """
    return _code(ctx, lang, code, cwd, args).stdout


@function
def exec_code_all(
    ctx: Context, lang: str, code: object, cwd: str | None = None, args: object = None
) -> object:
    """Run a piece of code by the interpreter ``lang``. Returns what ``run_all`` returns.

    Example:
        ```console
        $ saltern call cmd.exec_code_all sh 'echo done'
        local:
        …
            stdout:
                done
        ```
    """
    return _code(ctx, lang, code, cwd, args).asdict()


def _code(ctx: Context, lang: str, code: object, cwd: str | None, args: object) -> Done:
    from saltern.modules.lib.scripts import script_file

    with script_file("\n".join(list_of_texts(code)).encode(), "", ctx.runas) as place:
        return _call(ctx, [lang, place, *list_of_texts(args)], WORDS, {"cwd": cwd})


@function
def which(ctx: Context, cmd: str) -> str | None:  # noqa: ARG001
    """The path of a program, or None.

    Example:
        ```console
        $ saltern call cmd.which sh
        local:
            /usr/bin/sh
        ```
    """
    from shutil import which as find

    return find(cmd)


@function
def which_bin(ctx: Context, cmds: object) -> str | None:
    """The path of the first of these programs that exists.

    Example:
        ```console
        $ saltern call cmd.which_bin '[no-such-shell, sh]'
        local:
            /usr/bin/sh
        ```
    """
    found = (which(ctx, str(cmd)) for cmd in cmds) if isinstance(cmds, list | tuple) else iter(())
    return next((path for path in found if path), None)


@function
def has_exec(ctx: Context, cmd: str) -> bool:
    """True if a program exists.

    Example:
        ```console
        $ saltern call cmd.has_exec sh
        local:
            True
        ```
    """
    return which(ctx, cmd) is not None


@function
def shells(ctx: Context) -> list[str]:  # noqa: ARG001
    """The allowed login shells, from ``/etc/shells``.

    Example:
        ```console
        $ saltern call cmd.shells
        local:
        …
            - /bin/sh
        …
        ```
    """
    if not os.path.exists("/etc/shells"):
        return []
    with open("/etc/shells", encoding="utf-8") as file:
        return [line.strip() for line in file if line.startswith("/")]


@function
def tty(ctx: Context, device: str, echo: str = "") -> dict[str, str]:  # noqa: ARG001
    """Write a text to a terminal: ``tty0``, ``pts3``.

    Example:
        ```console
        $ saltern call cmd.tty tty0 'The machine restarts soon.'
        local:
            ----------
        …
        ```
    """
    found = re.fullmatch(r"(tty\w*)|pts/?(\d+)", device)
    if not found:
        return {"Error": "The specified device is not a valid TTY"}
    path = f"/dev/{found[1]}" if found[1] else f"/dev/pts/{found[2]}"
    try:
        terminal = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            os.write(terminal, echo.encode())
        finally:
            os.close(terminal)
    except OSError:
        return {"Error": f"Echoing to {path} returned error"}
    return {"Success": f"Message was successfully echoed to {path}"}
