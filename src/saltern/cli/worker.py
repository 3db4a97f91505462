"""The worker of an agent: runs one job in its own process, like the same verb on the command line.

``python -m saltern.cli.worker FOLDER``. The folder holds the task, and receives the result; see
``fleet/agent/task.py``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, parse
from saltern.cli.main import run_guarded
from saltern.cli.worker_follower import JobFollower
from saltern.cli.worker_runs import is_update_open, run_of
from saltern.config.settings import Settings
from saltern.fleet.agent.output import pack_output
from saltern.fleet.agent.task import JobFolder, Outcome, Task
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean
from saltern.modules.api.uplink import JOB, SOCKET
from saltern.system import atomic, own_program
from saltern.system.signals import was_terminated

if TYPE_CHECKING:
    from saltern.engine.session import Session

TAKEN = 75  # another worker has the job: this one does nothing
AGAIN = "again"  # this process has the job, and has become another build
# Arguments of state functions that are not options of the command: Salt's names, and where a value goes.
OWN_WORDS = {"pillar", "test", "saltenv", "mods", "queue", "concurrent"}
OPTIONS = {"state_events"}  # arguments of state functions that are options of the configuration
IDLE = {"sync_mods"}  # arguments that ask for what is always done
SHUT = {
    "config", "file_root", "pillar_root", "out", "minion_id", "log_level", "debug", "verbose", "save", "sign",
    "output", "on", "controller", "wait", "expires", "detach", "batch",
    "batch_wait", "batch_failures", "returners", "return_config", "return_kwargs",
}  # fmt: skip


def main(argv: list[str]) -> int:
    """Run the job of a folder; return the exit code of its command, or ``TAKEN``."""
    folder = JobFolder(argv[0])
    task = folder.read_task()
    if argv[1:] == [AGAIN]:
        task = replace(task, again=True)
        if not folder.lock.hold():
            return TAKEN
    elif not folder.take(task.attempt):
        return TAKEN
    os.environ |= {SOCKET: task.socket, JOB: task.jid}
    own_program.continue_as("saltern.cli.worker", (folder.path, AGAIN))
    _redirect(folder, anew=argv[1:] != [AGAIN])
    follower = JobFollower(folder, task)
    code = run_guarded(lambda: COMMANDS[task.command](task, follower))
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    if argv[1:] == [AGAIN] and is_update_open(_settings(task), task.jid):
        return code  # this build did not take over: the previous one continues
    if _is_shut_down(task, follower):
        follower.write_records()
        return code
    outcome = Outcome(
        attempt=task.attempt, code=code, changed=follower.changed, failed=follower.failed, run=follower.run
    )
    outcome = pack_output(folder, outcome, bare=task.command == "call", names=task.names)
    if task.returners:
        from saltern.cli.worker_returners import call_returners

        outcome = call_returners(folder, task, outcome, lambda: _session(task))
    follower.write_records()
    folder.write("outcome", outcome, durable=True)
    return code


def _is_shut_down(task: Task, follower: JobFollower) -> bool:
    """True if a shutdown ended a run with a journal: there is no outcome, and the next worker resumes it."""
    return task.durable and was_terminated() and not follower.is_cancelled()


def _redirect(folder: JobFolder, *, anew: bool) -> None:
    """Redirect standard output and errors to files; a build that takes over appends its errors."""
    for number, name in ((1, "out"), (2, "err")):
        empty = os.O_TRUNC if anew or name == "out" else 0
        file = os.open(folder.file(name), os.O_WRONLY | os.O_CREAT | os.O_APPEND | empty, 0o600)
        os.dup2(file, number)
        os.close(file)


# -- the verbs ---------------------------------------------------------------------------------------


def _call(task: Task, follower: JobFollower) -> int:
    from saltern.cli.call import LINE, call

    args = _args(LINE, [task.function], task, follower)
    follower.end_if_cancelled()
    return call(args, list(task.args), dict(task.kwargs))


def _single(task: Task, follower: JobFollower) -> int:
    from saltern.cli.single import LINE, apply_single

    words, keywords = list(task.args), dict(task.kwargs)
    function = str(words.pop(0) if words else keywords.pop("fun", ""))
    options: dict[str, object] = {key: keywords.pop(key) for key in ("pillar", "saltenv") if key in keywords}
    args = _args(LINE, [function], task, follower, options)
    return apply_single(args, words, keywords)


def _apply(task: Task, follower: JobFollower) -> int:
    from saltern.cli.apply import LINE, apply

    if task.again and (known := run_of(_settings(task), task.jid)):
        return _continue(task, follower, known)
    options = {key: value for key, value in task.kwargs.items() if key in OPTIONS and value is not None}
    others = {key: value for key, value in task.kwargs.items() if key not in OPTIONS | IDLE}
    args = _args(LINE, _names(task), task, follower, others)
    args.overrides |= options
    if task.function == "state.top" and task.args:
        args.overrides["state_top"] = str(task.args[0])
    return apply(args)


def _names(task: Task) -> list[str]:
    if task.function in ("state.highstate", "state.top"):
        return []
    given = [*task.args, task.kwargs.get("mods", [])]
    flat = [one for part in given for one in (part if isinstance(part, list) else [part])]
    return [str(one) for one in flat if one not in ("", None)]


def _session(task: Task) -> Session:
    from saltern.cli.call import LINE
    from saltern.cli.from_options import session

    return session(_args(LINE, ["-"], task, None))


def _settings(task: Task) -> Settings:
    return _session(task).settings


def _continue(task: Task, follower: JobFollower, run: str) -> int:
    """Resume the run, or report it if it has ended."""
    from saltern.cli.from_options import session
    from saltern.cli.output import exit_code, write_report
    from saltern.cli.resume import LINE, resume_named
    from saltern.journal.report import report_of
    from saltern.journal.runs import Runs
    from saltern.journal.summaries import RESUMABLE

    args = _args(LINE, [run], task, follower)
    follower.claimed(run)
    engine = session(args)
    state = Runs(engine.settings).state(run)
    if state.status in RESUMABLE:
        try:
            return resume_named(args)
        except OperationError as problem:
            if problem.diagnostics[0].code != "run-not-resumable":
                raise
            state = Runs(engine.settings).state(run)  # the machine's own service resumed it first
    report = report_of(state)
    write_report(args, engine, report)
    return exit_code(report)


def _resume(task: Task, follower: JobFollower) -> int:
    from saltern.cli.resume import LINE, resume_named

    return resume_named(_args(LINE, list(map(str, task.args)), task, follower, task.kwargs))


def _chain(task: Task, follower: JobFollower) -> int:
    from saltern.cli.chain import LINE
    from saltern.cli.worker_chain import WORDS, run_leg

    if task.function == "chain.leg":
        from saltern.cli.worker_leg import run_order

        return run_order(task, follower, lambda options: _args(LINE, ["run"], task, follower, options))
    for key in task.kwargs:
        if key not in WORDS:
            _refuse(task, key, sorted(WORDS))
    environment = {key: value for key, value in task.kwargs.items() if key == "saltenv"}
    args = _args(LINE, ["run"], task, follower, environment)
    return run_leg(task, follower, args)


def _plain_command(module: str) -> Callable[[Task, JobFollower], int]:
    """A command that takes its words as they are typed."""

    def work(task: Task, follower: JobFollower) -> int:
        command = import_module(f"saltern.cli.{module}")
        words = list(map(str, task.args))
        code: int = command.run_here(_args(command.LINE, words, task, follower, task.kwargs))
        return code

    return work


def _schedule(task: Task, follower: JobFollower) -> int:
    from saltern.cli.call import LINE
    from saltern.cli.from_options import session
    from saltern.cli.worker_schedule import print_schedule

    engine = session(_args(LINE, ["-"], task, follower))
    engine.load_pillar()
    return print_schedule(engine)


COMMANDS: dict[str, Callable[[Task, JobFollower], int]] = {
    "call": _call,
    "single": _single,
    "apply": _apply,
    "resume": _resume,
    "schedule": _schedule,
    "chain": _chain,
    **{name: _plain_command(name) for name in ("plan", "show", "runs", "report")},
}


# -- command lines -----------------------------------------------------------------------------


def _args(
    line: CommandLine,
    words: list[str],
    task: Task,
    follower: JobFollower | None,
    kwargs: dict[str, object] | None = None,
) -> SimpleNamespace:
    """The arguments from a command line, with values that only an agent gives."""
    args = parse(line, _words(line, task, words, kwargs or {}))
    args.overrides = dict(task.overrides)
    args.follower = follower
    return args


def _words(line: CommandLine, task: Task, words: list[str], kwargs: dict[str, object]) -> list[str]:
    """The command line of a job; arguments that the command does not have are an error."""
    rows = {row.dest: row for row in line.rows if row.flag.startswith("--")}
    found = ["--out=json", *([f"--config={task.config}"] if task.config else [])]
    if task.test and "test" in rows:
        found.append("--test")
    if environment := kwargs.get("saltenv") or ("" if task.environment == "base" else task.environment):
        found.append(f"--saltenv={environment}")
    if pillar := kwargs.get("pillar"):
        found.append(f"--pillar={_pillar_file(pillar)}")
    for key, value in kwargs.items():
        if key in OWN_WORDS or key.startswith("__"):
            continue
        if key not in rows or key in SHUT:
            _refuse(task, key, [name for name in rows if name not in SHUT])
        row = rows[key]
        if row.kind in ("on", "off"):
            found += [row.flag] if bool(value) == (row.kind == "on") else []
        else:
            found += [f"{row.flag}={_yaml(value)}"]
    return [*found, "--", *words]


def _pillar_file(pillar: object) -> str:
    """Write pillar data to a private file: every user can read a command line."""
    path = os.path.join(os.environ["SALTERN_JOB_FOLDER"], "pillar.yaml")
    atomic.write(path, msgspec.json.encode(pillar))
    return path


def _yaml(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _refuse(task: Task, key: str, known: list[str]) -> None:
    what = f"{task.function} has no argument {key!r}"
    raise OperationError(Diagnostic(code="job-argument", what=what, fix=did_you_mean(key, known)))


if __name__ == "__main__":
    from saltern.cli.worker_process import start

    start(main, sys.argv[1:], exits.BUG)
