"""``cmd``: run commands and scripts.

What a command does is unknown before it runs, so it always counts as a change. Give it
``creates``, ``onlyif`` or ``unless``, or watch something with ``cmd.wait``, to run it only
when there is something to do.

Its ``data`` has ``stdout``, ``stderr``, ``retcode`` and ``pid``. If a condition keeps the command
from running, there is no output either: a block or a reference that needs the output
every time needs a command that is ``read_only``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from saltern.language.nature import Nature
from saltern.language.result import Outcome, Result, ok, would_change
from saltern.modules.api.commands import Options, environment, execute
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.params import Unused, Variables, call_bound
from saltern.modules.api.refused import Refused
from saltern.modules.lib.command_answers import answer_of, rehearse, unchanged_result, warn_unused
from saltern.modules.lib.reboot_codes import reboot_codes, with_reboot_request
from saltern.modules.lib.stateful import as_reported, is_stateful

NATURE = Nature(
    repeat="once",
    programs_only=True,
    runs_commands=True,
    advice="give it 'creates', 'unless' or 'onlyif', or an 'onchanges' requisite on the state it follows",
)
NOTHING_WATCHED = Result(outcome=Outcome.OK)


@state(acts_always=True)
def run(
    ctx: Context,
    /,
    name: str,
    *,
    cwd: str | None = None,
    root: str | None = None,
    runas: str | None = None,
    shell: str | None = None,
    env: object = None,
    clean_env: bool = False,
    reset_system_locale: bool = True,
    prepend_path: str | None = None,
    template: str | None = None,
    stateful: object = False,
    read_only: bool = False,
    umask: object = None,
    hide_output: bool = False,
    timeout: float | None = None,
    ignore_timeout: bool = False,
    success_retcodes: object = None,
    success_stdout: object = None,
    success_stderr: object = None,
    reboot_retcodes: object = None,
    bg: bool = False,
    stdin: str | None = None,
    redirect_stderr: bool = False,
    rstrip: bool = True,
    **rest: Unused,
) -> Result:
    """Run a command in a shell.

    Args:
        name: the command; several lines are one script.
        cwd: the directory to run it in; the user's home directory if not given.
        root: run it inside this directory, with ``chroot``.
        runas: the user to run it as.
        shell: the shell; the machine's own (the grain ``shell``, or ``/bin/sh``) if not given.
        env: more environment variables, ``{NAME: value}``.
        clean_env: give it only the variables of ``env``.
        reset_system_locale: False keeps the locale that saltern was started with.
        prepend_path: directories to search before PATH.
        template: render the command first, with ``jinja`` or another engine.
        stateful: the last line of the output says what happened: ``changed=yes comment='…'`` or
            JSON; all its values are part of ``data``. ``{test_name: command}`` also gives the command
            to run in test mode.
        read_only: the command changes nothing. It counts as unchanged, and test mode and plans run it, too;
            there, its result is known only after apply if it fails or if a state it requires would change
            something.
        umask: the umask of the command.
        hide_output: keep its output out of the report, and so out of ``data``; ``no_log`` keeps it out of
            the report alone.
        timeout: seconds after which it and all its processes are killed.
        ignore_timeout: count such a kill as a success.
        success_retcodes: further exit codes that are a success.
        success_stdout, success_stderr: texts that make it a success if the output contains them.
        reboot_retcodes: exit codes with which it asks for a reboot: ``{3010: after}`` continues with the next
            state after the reboot, ``again`` repeats the command first; true: ``{194: again, 195: after}``.
        bg: start it and do not wait for it.
        stdin: the text it reads from stdin.
        redirect_stderr: report what it writes to stderr as part of its output.
        rstrip: False keeps empty lines and spaces at the end of its output.

    Example:
        ```yaml
        make the database:
          cmd.run:
            - name: tr a-z A-Z <list.txt >names.db
            - cwd: /srv/app
            - runas: root
            - creates: /srv/app/names.db
        ```
    """
    options = Options(
        cwd=cwd,
        root=root,
        runas=runas,
        shell=shell,
        env=env,
        clean_env=clean_env,
        reset_system_locale=reset_system_locale,
        prepend_path=prepend_path,
        umask=umask,
        timeout=timeout,
        ignore_timeout=ignore_timeout,
        success_retcodes=success_retcodes,
        success_stdout=success_stdout,
        success_stderr=success_stderr,
        bg=bg,
        stdin=stdin,
        merge_err=redirect_stderr,
        rstrip=rstrip,
    )
    codes = reboot_codes(reboot_retcodes)
    if env is not None:
        environment(env)
    if ctx.test and not read_only:
        return rehearse(ctx, name, options, stateful)
    command = ctx.templates.text(name, engine=template, env=ctx.env) if template else name
    done = execute(ctx, command, options)
    answer = answer_of(done, f'Command "{name}" run', hide=hide_output, warnings=warn_unused(rest))
    answer = with_reboot_request(answer, done, codes) if codes else answer
    answer = as_reported(answer, done) if is_stateful(stateful) and not bg else answer
    return unchanged_result(ctx, answer, name) if read_only else answer


@state
def wait(ctx: Context, /, name: str, **_: Unused) -> Result:  # noqa: ARG001
    """Run a command, but only when a watched state has changed. Takes the arguments of ``run``.

    Example:
        ```yaml
        /etc/aliases:
          file.append:
            - text: 'support: ada'

        cp /etc/aliases /etc/aliases.copy:
          cmd.wait:
            - watch:
              - file: /etc/aliases
        ```
    """
    return NOTHING_WATCHED


@state(acts_always=True, from_file=True, name_is="source")
def script(
    ctx: Context,
    /,
    name: str,
    *,
    source: str | None = None,
    template: str | None = None,
    args: object = None,
    context: object = None,
    defaults: object = None,
    cwd: str | None = None,
    runas: str | None = None,
    shell: str | None = None,
    env: object = None,
    clean_env: bool = False,
    reset_system_locale: bool = True,
    prepend_path: str | None = None,
    stateful: object = False,
    read_only: bool = False,
    umask: object = None,
    hide_output: bool = False,
    timeout: float | None = None,
    ignore_timeout: bool = False,
    success_retcodes: object = None,
    success_stdout: object = None,
    success_stderr: object = None,
    reboot_retcodes: object = None,
    saltenv: str | None = None,
    stdin: str | None = None,
    **rest: Variables,
) -> Result:
    """Run a script as a private copy that is removed afterwards.

    Args:
        name: the script, and arguments for it if ``source`` is given as well.
        source: ``salt://``, a path or a web address; ``name`` if not given.
        template: render it first, with ``jinja`` or another engine.
        args: arguments for the script, as text or a list.
        context, defaults: values for the template.
        **rest: with ``template``, further arguments are values for it, too.
        cwd, runas, shell, env, clean_env, reset_system_locale, prepend_path, stateful, read_only, umask,
            hide_output, timeout, ignore_timeout, success_retcodes, success_stdout, success_stderr,
            reboot_retcodes, stdin: as in ``run``.
        saltenv: the environment for ``salt://``.

    Example:
        ```yaml
        greet:
          cmd.script:
            - source: salt://web/hello.sh
            - args: ada
            - cwd: /srv/app
            - creates: /srv/app/greeting
        ```
    """
    from saltern.modules.lib.scripts import run_script

    for what, value in (("context", context), ("defaults", defaults)):
        if value is not None and not isinstance(value, Mapping):
            raise Refused(f"argument {what!r} needs a mapping")
    options = Options(
        cwd=cwd,
        runas=runas,
        shell=shell,
        env=env,
        clean_env=clean_env,
        reset_system_locale=reset_system_locale,
        prepend_path=prepend_path,
        umask=umask,
        timeout=timeout,
        ignore_timeout=ignore_timeout,
        success_retcodes=success_retcodes,
        success_stdout=success_stdout,
        success_stderr=success_stderr,
        stdin=stdin,
    )
    codes = reboot_codes(reboot_retcodes)
    if env is not None:
        environment(env)
    if ctx.test and not read_only:
        return would_change(f"Command '{name}' would have been executed")
    done = run_script(
        ctx,
        source or name,
        args if args is not None or not source else name.partition(" ")[2],
        options,
        template=template,
        values={**(rest if template else {}), **_mapping(defaults), **_mapping(context)},
        env=saltenv or "",
    )
    answer = answer_of(
        done, f"Command '{name}' run", hide=hide_output, warnings=() if template else warn_unused(rest)
    )
    answer = with_reboot_request(answer, done, codes) if codes else answer
    answer = as_reported(answer, done) if is_stateful(stateful) else answer
    return unchanged_result(ctx, answer, name) if read_only else answer


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


@state
def wait_script(ctx: Context, /, name: str, **_: Unused) -> Result:  # noqa: ARG001
    """Run a script, but only when a watched state has changed. Takes the arguments of ``script``.

    Example:
        ```yaml
        /etc/motd:
          file.managed:
            - contents: Welcome

        greet:
          cmd.wait_script:
            - source: salt://web/hello.sh
            - watch:
              - file: /etc/motd
        ```
    """
    return NOTHING_WATCHED


@state(programs_only=False)
def call(
    ctx: Context,
    /,
    name: str,
    *,
    func: object,
    args: object = None,
    kws: object = None,
    **_: Unused,
) -> Result:
    """Call a Python function, or an execution function by its name.

    Args:
        name: the name in the report.
        func: a Python function from a ``#!py`` file, or the name of an execution function,
            ``module.function``.
        args: a list of arguments for it.
        kws: a mapping of keyword arguments for it.

    Example:
        ```yaml
        file.set_mode:
          cmd.call:
            - func: file.set_mode
            - args: [/srv/app/list.txt, '0600']
        ```
    """
    function = ctx.functions[func] if isinstance(func, str) and func in ctx.functions else func
    if not callable(function):
        raise Refused(f"argument 'func' needs a function, but {func!r} is not one")
    if ctx.test:
        return would_change(f"Function {name!r} would have been called")
    given = args if isinstance(args, list | tuple) else [] if args is None else [args]
    answer = function(*given, **_mapping(kws))
    if isinstance(answer, dict):
        return Result(
            outcome=Outcome(bool(answer.get("result", True))),
            comment=str(answer.get("comment", "")),
            changes=dict(_mapping(answer.get("changes"))),
            data=dict(_mapping(answer.get("data"))) or {"retval": answer},
        )
    return ok(answer if isinstance(answer, str) else "", changes={"retval": answer}, retval=answer)


@state(programs_only=False)
def wait_call(ctx: Context, /, name: str, *, func: object, **_: Unused) -> Result:  # noqa: ARG001
    """Call a function, but only when a watched state has changed. Takes the arguments of ``call``.

    Example:
        ```yaml
        /etc/motd:
          file.managed:
            - contents: Welcome

        note the time:
          cmd.wait_call:
            - func: file.touch
            - args: [/srv/app/changed]
            - watch:
              - file: /etc/motd
        ```
    """
    return NOTHING_WATCHED


REACTIONS = {
    "run": run,
    "wait": run,
    "watch": run,
    "script": script,
    "wait_script": script,
    "call": call,
    "wait_call": call,
}


@state
def mod_watch(
    ctx: Context,
    /,
    name: str,
    *,
    sfun: str = "run",
    runas: str | None = None,
    umask: object = None,
    saltenv: str | None = None,
    **kwargs: object,
) -> Result:
    """The reaction of a ``cmd`` state to a change in a watched state: it runs.

    Example:
        ```yaml
        /etc/aliases:
          file.append:
            - text: 'support: ada'

        cp /etc/aliases /etc/aliases.copy:
          cmd.run:
            - unless: test -e /etc/aliases.copy
            - watch:
              - file: /etc/aliases
        ```
    """
    reaction = REACTIONS.get(sfun)
    if reaction is None:
        raise Refused(f"cmd.{sfun} cannot react to a watch; use cmd.wait or cmd.wait_script")
    body: Callable[..., Result] = reaction.body
    words = {"runas": runas, "umask": umask, "saltenv": saltenv}
    given = kwargs | {word: value for word, value in words.items() if value is not None}
    return call_bound(body, ctx, name, given)
