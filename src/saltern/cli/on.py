"""``--on TARGET``: run a verb as a job of the fleet, follow it to its end, and print it as on one machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from saltern.cli import exits
from saltern.cli.arguments import CommandLine
from saltern.cli.job_call import Call, typed_return_options
from saltern.cli.values import call_arguments, mapping_value, yaml_value
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.returner_names import returner_names

if TYPE_CHECKING:
    from saltern.cli.follow import Shown
    from saltern.fleet.client.client import Client
    from saltern.fleet.client.follow import Follower
    from saltern.fleet.protocol.batch import Batch

# Options that say where files and data of this machine are. The controller has its own for the fleet.
HERE = {
    "file_root": "--file-root",
    "pillar_root": "--pillar-root",
    "grains": "--grains",
    "minion_id": "--id",
    "template": "--template",
}
# Options that have a meaning only on this machine.
LOCAL = {
    "ask": "--ask",
    "failed_from": "--failed-from",
    "no_journal": "--no-journal",
    "check_idempotent": "--check-idempotent",
    "replan": "--replan",
    "verify": "--verify",
    "save": "-o",
    "sign": "--sign",
    "html": "--html",
    "output": "--output",
    "profile": "--profile",
    "boot": "--boot",
    "export": "--export",
}

# Options for jobs that a controller stores.
OF_CONTROLLERS = {"detach": "--detach", "expires": "--expires"}
# Pillar options, and the verbs that pass them on.
PILLAR = {"pillar": "--pillar", "pillarenv": "--pillarenv"}
TAKES = {"pillar": ("apply", "plan", "show", "single", "chain"), "pillarenv": ("apply", "plan", "show")}


def run_on(line: CommandLine, args: SimpleNamespace, argv: Sequence[str]) -> int:
    """Run a verb with ``--on``; return the exit code."""
    _refuse(line.command, args)
    call = VERBS[line.command](args)
    if args.roster:
        from saltern.cli.ssh_run import run_over_ssh

        return run_over_ssh(args, call, _display(args, argv), _batch(args))
    ask = {
        "function": call.function,
        "target": args.on,
        "args": call.args,
        "kwargs": call.kwargs,
        "test": call.test,
        "environment": args.saltenv or "base",
        "life": _seconds("--expires", args.expires),
        "wait": _seconds("--wait", args.wait),
        "batch": args.batch,
        "batch_wait": _seconds("--batch-wait", args.batch_wait),
        "batch_failures": args.batch_failures,
        "returners": returner_names(args.returners) or None,
        "return_options": typed_return_options(args) or None,
    }
    from saltern.cli.connect import connect

    with connect(args) as client:
        return _submit(args, argv, client, {name: value for name, value in ask.items() if value is not None})


def _submit(args: SimpleNamespace, argv: Sequence[str], client: Client, ask: dict[str, Any]) -> int:
    from saltern.cli.follow import follow_job, new_followed, show_away

    shown = _display(args, argv)
    begun = None
    if args.detach:
        submitted = client.jobs.submit(**ask)
    else:
        submitted, begun = start_job(client, ask, shown.out)
    if not submitted["expected"] and not submitted["away"]:
        what = f"no system matches {args.on!r}"
        fix = "`saltern fleet systems` lists them; a glob needs quotes for your shell"
        raise OperationError(Diagnostic(code="target-matches-nothing", what=what, fix=fix))
    job = new_followed(submitted, ask, begun)
    if args.detach:
        show_away(job)
        print(submitted["jid"])
        return exits.OK
    return follow_job(client, job, shown)


def start_job(client: Client, ask: dict[str, Any], out: str) -> tuple[dict[str, Any], Follower]:
    """Start a job: what it is, and its notices, with the returns if the format needs them in the end."""
    from saltern.cli.watch import before_job
    from saltern.fleet.view.format_names import SILENT

    watcher = before_job(out)
    try:
        return client.start(**ask, returns=out not in SILENT, on_break=watcher.broken)
    except KeyboardInterrupt:
        watcher.note("it is not known whether the job has begun; `saltern jobs` lists it if it has")
        raise


def _display(args: SimpleNamespace, argv: Sequence[str]) -> Shown:
    """How the job is shown, from the command line."""
    from saltern.cli.follow import Shown

    return Shown(
        out=chosen_format(args, argv),
        colour=args.color,
        detailed=getattr(args, "detailed_exitcode", False),
        patient=args.wait is not None,
        layout={name: getattr(args, name, None) for name in LAYOUT},
    )


LAYOUT = ("state_output", "state_verbose", "state_output_diff", "expand", "sub_states")


def chosen_format(args: SimpleNamespace, argv: Sequence[str]) -> str:
    """The requested format; by default, equal outcomes in groups."""
    from saltern.fleet.view.format_names import FORMAT_NAMES, GROUPED

    if not any(word == "--out" or word.startswith("--out=") for word in argv):
        return GROUPED
    if args.out in FORMAT_NAMES:
        return str(args.out)
    what, fix = f"--out {args.out} is not written for many systems", "use --out json"
    raise OperationError(Diagnostic(code="option-choice", what=what, fix=fix))


def _refuse(verb: str, args: SimpleNamespace) -> None:
    """Refuse options that would be ignored."""
    given = vars(args)
    elsewhere, kept = ({}, OF_CONTROLLERS) if args.roster else (HERE, {})
    for names, why in (
        (elsewhere, "the controller has the files and the pillar of the fleet"),
        (kept, "with --roster there is no controller that keeps the job"),
        (LOCAL, "it is for this machine only"),
        (
            {name: flag for name, flag in PILLAR.items() if verb not in TAKES[name]},
            f"{verb} does not take it there",
        ),
    ):
        for name, flag in names.items():
            if given.get(name):
                what = f"{flag} cannot be used with --on: {why}"
                raise OperationError(Diagnostic(code="option-shape", what=what, fix="leave one of them out"))


def _batch(args: SimpleNamespace) -> Batch | None:
    """How many systems of a roster run at a time; None for all."""
    from saltern.fleet.chains.amounts import is_amount
    from saltern.fleet.protocol.batch import Batch

    size, failures = args.batch or "", args.batch_failures or ""
    wait = _seconds("--batch-wait", args.batch_wait) or 0.0
    for is_wrong, what in (
        (not is_amount(size, least=1), f"--batch needs a number from 1 on or a percentage, not {size!r}"),
        (not is_amount(failures), f"--batch-failures needs a number or a percentage, not {failures!r}"),
        (not size and bool(failures or wait), "--batch-wait and --batch-failures are for a job with --batch"),
    ):
        if is_wrong:
            raise OperationError(Diagnostic(code="option-shape", what=what))
    return Batch(size=size, wait=wait, failures=failures) if size else None


def _seconds(flag: str, text: str | None) -> float | None:
    try:
        found = None if text is None else float(text)
    except ValueError:
        found = -1.0
    if found is not None and not 0 <= found < float("inf"):
        what = f"{flag} needs a number of seconds, not {text!r}"
        raise OperationError(Diagnostic(code="option-shape", what=what))
    return found


# -- what each verb calls ------------------------------------------------------------------------


def _states(function: str) -> Callable[[SimpleNamespace], Call]:
    def call(args: SimpleNamespace) -> Call:
        names = [name for word in args.sls for name in word.split(",") if name]
        options = {
            **_common(args),
            "exclude": yaml_value("--exclude", args.exclude) if args.exclude else None,
            "only_id": args.only_id,
            "failhard": args.failhard,
            "strict": args.strict,
            "diff": getattr(args, "diff", None),
            "refresh": getattr(args, "refresh", None),
            "queue": _seconds("--queue", getattr(args, "queue", None)),
        }
        return Call(
            function=function,
            args=names,
            kwargs=_given_options(options),
            test=bool(getattr(args, "test", False)),
        )

    return call


def _common(args: SimpleNamespace) -> dict[str, object]:
    return {
        "pillar": mapping_value("--pillar", args.pillar) or None,
        "saltenv": args.saltenv,
        "pillarenv": args.pillarenv,
    }


def _given_options(options: dict[str, object]) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value not in (None, False)}


def _single(args: SimpleNamespace) -> Call:
    positional, keywords = call_arguments(args.args)
    name = str(keywords.pop("name", positional[0] if positional else args.function))
    options = _given_options(
        {"pillar": mapping_value("--pillar", args.pillar) or None, "saltenv": args.saltenv}
    )
    kwargs = {**keywords, **options}
    return Call(function="state.single", args=[args.function, name], kwargs=kwargs, test=bool(args.test))


def _call(args: SimpleNamespace) -> Call:
    positional, keywords = call_arguments(args.args)
    return Call(function=args.function, args=positional, kwargs=keywords)


def _show(args: SimpleNamespace) -> Call:
    options = {**_common(args), "block": args.block, "prev_ret": args.prev_ret, "context": args.context}
    return Call(function="saltern.show", args=[args.what, *args.sls], kwargs=_given_options(options))


def _runs(_args: SimpleNamespace) -> Call:
    return Call(function="saltern.runs")


def _resume(args: SimpleNamespace) -> Call:
    return Call(function="saltern.resume", args=list(args.run))


def _report(args: SimpleNamespace) -> Call:
    return Call(function="saltern.report", args=list(args.runs))


def _chain(args: SimpleNamespace) -> Call:
    from saltern.cli.chain_file import chain_call

    return chain_call(args)


VERBS: dict[str, Callable[[SimpleNamespace], Call]] = {
    "chain": _chain,
    "apply": _states("state.apply"),
    "plan": _states("saltern.plan"),
    "single": _single,
    "call": _call,
    "show": _show,
    "runs": _runs,
    "resume": _resume,
    "report": _report,
}
