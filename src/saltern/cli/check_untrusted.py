"""``saltern check --untrusted``: the check in a process that can do no harm."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, NoReturn

from msgspec import DecodeError, json

from saltern.cli.values import check_grains_file, mapping_value, roots
from saltern.language.diagnostics import CompileError, Diagnostic, OperationError, PillarError
from saltern.lint.check import Checked
from saltern.lint.select import root_around

if TYPE_CHECKING:
    from saltern.lsp.worker import CheckReply, Question

LONGEST = 600.0  # seconds
_KINDS = {"pillar": PillarError, "compile": CompileError, "surroundings": OperationError}


def checked_apart(args: SimpleNamespace) -> Checked:
    """The findings of the worker, as ``check`` itself would report them. Raises what it would have raised."""
    if args.fix:
        what = "--fix cannot be given with --untrusted: the tree would decide what is written"
        raise OperationError(
            Diagnostic(code="untrusted-fix", what=what, fix="review the findings first, then fix them")
        )
    answer = _ask_worker(_question(args))
    if answer.failed:
        raise OperationError(
            Diagnostic(
                code="untrusted-check", what=f"the check of the untrusted tree failed: {answer.failed}"
            )
        )
    problems = [one.diagnostic for one in answer.problems]
    if answer.stopped and all(one.information for one in answer.problems):
        return Checked(problems=problems, edits={}, files=answer.files)
    if answer.stopped:
        raise _KINDS[answer.stopped](*problems)
    _report_layers(answer)
    machines = {one.diagnostic: one.machines for one in answer.problems if one.machines}
    return Checked(problems=problems, edits={}, files=answer.files, machines=machines, count=answer.count)


def _report_layers(answer: CheckReply) -> None:
    if not {"landlock", "seccomp", "namespaces"} & {*answer.layers}:
        print(
            "saltern: this kernel offers no confinement; only saltern's own checks kept the tree from acting",
            file=sys.stderr,
        )


def _question(args: SimpleNamespace) -> Question:
    from saltern.lsp.launch import resolve_options
    from saltern.lsp.worker import Question

    given = {
        "file_roots": roots(args.file_root),
        "pillar_roots": roots(args.pillar_root),
        "pillarenv": args.pillarenv,
        "saltenv": args.saltenv,
        "id": args.minion_id,
        "grains_file": check_grains_file(args.grains),
    }
    options = {name: value for name, value in given.items() if value is not None}
    config, options, places = resolve_options(args.config, options, os.environ)
    paths = [os.path.realpath(word) for word in args.words if os.path.exists(word)]
    machines = [os.path.abspath(os.path.expanduser(path)) for path in args.machines or ()]
    return Question(
        config=config,
        options=options,
        pillar=mapping_value("--pillar", args.pillar),
        words=args.words,
        places=[*places, *(root_around(path, "top.sls") for path in paths), *paths, *machines],
        base=os.getcwd(),
        rules=args.rules or [],
        ignore=args.ignore or [],
        exclude=args.exclude or [],
        machines=machines,
    )


def _ask_worker(question: Question) -> CheckReply:
    from subprocess import TimeoutExpired

    from saltern.lsp.launch import start
    from saltern.lsp.worker import CheckReply

    process = start(trust=False)
    try:
        data, _ = process.communicate(json.encode(question), timeout=LONGEST)
        return json.decode(data, type=CheckReply)
    except TimeoutExpired:
        _fail(f"the worker was stopped after {LONGEST:.0f} seconds")
    except DecodeError:
        _fail(f"the worker ended with {process.returncode} and no answer, perhaps out of memory or time")
    finally:
        process.kill()
        process.wait()


def _fail(why: str) -> NoReturn:
    what = f"the check of the untrusted tree failed: {why}"
    raise OperationError(Diagnostic(code="untrusted-check", what=what))
