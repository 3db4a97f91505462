"""``exec``: your own programs as engines: each JSON object they print is a result.

.. code-block:: yaml

    bring up the shop:
      exec.lines:
        - command: [/opt/shop/bin/bring-up, --all]
        - dry_run: True
"""

from __future__ import annotations

from msgspec.structs import replace

from saltern.language.nature import Nature
from saltern.language.result import Outcome, Result, would_change
from saltern.modules.api.commands import environment, words
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.params import BadArgument
from saltern.modules.lib.addresses import on_disk
from saltern.modules.lib.engines.drive import Ended, drive, unparsed_step
from saltern.modules.lib.engines.lines import Reader
from saltern.modules.lib.engines.steps import Steps, Verdict, conclude

NATURE = Nature(repeat="once", runs_commands=True)
NO_DRY_RUN = "would run {}; not run in test mode, since neither dry_run nor test_args is set"


@state
def lines(
    ctx: Context,
    name: str,
    *,
    command: str | list[str] | None = None,
    cwd: str | None = None,
    env: object = None,
    stdin: str | None = None,
    timeout: float | None = None,
    success_retcodes: list[str] | None = None,
    dry_run: bool = False,
    test_args: list[str] | None = None,
) -> Result:
    """Run a program that prints one JSON object per step; each step has its own result, reported at once.

    The page "Step format" describes the lines. Lines that are not JSON objects, and all output
    on stderr, are kept in a log. The program's own result is its exit code. No shell is
    involved: quotes group words, and nothing else is special.

    Args:
        name: the program with its arguments, or any text if ``command`` is given.
        command: the program with its arguments, as one text or a list. A word that begins with
            ``salt://`` becomes the path of that file.
        cwd: the directory to run it in.
        env: variables to add to its environment. ``SALTERN_TEST`` is set to 0 or 1.
        stdin: the text it reads from stdin.
        timeout: seconds after which it and all its processes are killed.
        success_retcodes: exit codes that are a success, besides 0.
        dry_run: the program changes nothing while ``SALTERN_TEST`` is 1, so it may be run in test mode.
        test_args: further arguments for test mode, with which the program changes nothing.

    Example:
        ```yaml
        count to two:
          exec.lines:
            - command:
              - printf
              - '{"name": "%s", "result": true, "changes": {}, "comment": "counted"}\\n'
              - one
              - two
        ```
    """
    argv = _argv(ctx, name if command is None else command)
    fine = _codes(success_retcodes)
    if ctx.test and not dry_run and test_args is None:
        return would_change(NO_DRY_RUN.format(argv[0]), data={"command": argv})
    if ctx.test:
        argv += test_args or []
    steps = Steps(ctx)
    reader = Reader(steps.add)
    ended = drive(
        ctx,
        "exec",
        argv,
        out=reader.read_line,
        cwd=cwd,
        env={**environment(env), "SALTERN_TEST": str(int(ctx.test))},
        stdin=stdin,
        timeout=timeout,
    )
    if reader.others and not steps.total and not reader.summary:
        steps.add(unparsed_step(ended, "it printed no JSON objects"))
    return _result(argv, steps, reader, ended, fine)


def _argv(ctx: Context, command: str | list[str]) -> list[str]:
    argv = words(command) if isinstance(command, str) else list(command)
    if not argv:
        raise BadArgument("the command is empty")
    return [_path_on_disk(ctx, word) if word.startswith("salt://") else word for word in argv]


def _path_on_disk(ctx: Context, word: str) -> str:
    found = on_disk(ctx, word)
    if found is None:
        raise BadArgument(f"{word} is not in the environment {ctx.env!r}")
    return found


def _codes(given: list[str] | None) -> set[int]:
    try:
        return {0, *map(int, given or [])}
    except ValueError:
        raise BadArgument(f"success_retcodes needs numbers, got {given!r}") from None


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")


def _result(argv: list[str], steps: Steps, reader: Reader, ended: Ended, fine: set[int]) -> Result:
    """The result of the state: the summary of its steps, with the program's own exit code.

    Its error is shown beside a failed step, too: it may have nothing to do with that step.
    """
    last_words = _last_line(ended.err) or ("" if steps.failures else reader.other)
    result = conclude(
        argv[0],
        steps,
        ended,
        Verdict(
            fine=fine,
            data={**reader.sent_values("data"), "command": argv},
            warnings=reader.warnings,
            why=last_words,
        ),
    )
    comment = reader.summary.get("comment")
    if isinstance(comment, str) and comment:
        result = replace(result, comment=f"{comment}\n{result.comment}")
    if reader.summary.get("result") is False and result.outcome is not Outcome.FAILED:
        result = replace(result, outcome=Outcome.FAILED)
    return replace(result, changes=dict(reader.sent_values("changes")))
