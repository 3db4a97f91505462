"""Run pyinfra, and report each operation on each host when it is done.

This runs pyinfra's own command line and hooks into it at three points: where an operation is
completed, where the operations are about to run, and where a dry run shows its results.
"""

from __future__ import annotations

import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import saltern_report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

INTERRUPTED = 130


class Reporter:
    """Knows when each operation on each host began."""

    def __init__(self, dry: bool) -> None:
        self._dry = dry
        self._begun: dict[tuple[str, str], float] = {}
        self._waits = False  # operations have begun, and not all are done

    def listen(self) -> None:
        """Install the hooks. The import is here, since pyinfra patches the library first."""
        from pyinfra.api import BaseStateCallback
        from pyinfra.api.operation import OperationMeta
        from pyinfra.api.state import State
        from pyinfra_cli import cli

        reporter = self

        class Callback(BaseStateCallback):  # type: ignore[misc]
            @staticmethod
            def host_connect_error(_state: Any, host: Any, error: Any) -> None:
                saltern_report.report("unreachable", host=host.name, error=error)

            @staticmethod
            def operation_host_start(state: Any, host: Any, op_hash: str) -> None:
                reporter.begin(state, host, op_hash)

        init, complete, run, show = State.init, OperationMeta.set_complete, cli.run_ops, cli.print_meta

        def after_init(state: Any, *args: Any, **kwargs: Any) -> None:
            init(state, *args, **kwargs)
            state.add_callback_handler(Callback())

        def after_complete(meta: Any, *args: Any, **kwargs: Any) -> None:
            complete(meta, *args, **kwargs)
            reporter.done(meta)

        def around_run(state: Any, *args: Any, **kwargs: Any) -> None:
            reporter.plan(state)
            run(state, *args, **kwargs)
            reporter._waits = False

        def after_show(state: Any) -> None:
            show(state)
            reporter.would(state)

        State.init, OperationMeta.set_complete = after_init, after_complete
        cli.run_ops, cli.print_meta = around_run, after_show
        cli._set_fail_prompts = lambda *_: (
            None
        )  # there is no terminal to ask whether to continue without a host

    @property
    def interrupted(self) -> bool:
        """True if pyinfra was interrupted, which it reports as success."""
        return self._waits

    def plan(self, state: Any) -> None:
        self._waits = True
        for op_hash in state.get_op_order():
            hosts = [host.name for host in state.inventory if op_hash in state.ops[host]]
            saltern_report.report("plan", hosts=hosts, **_names(state, op_hash))

    def begin(self, state: Any, host: Any, op_hash: str) -> None:
        self._begun[(op_hash, host.name)] = time.time()
        if op_hash in state.ops[host]:
            saltern_report.report("begin", host=host.name, **_names(state, op_hash, host))
        else:
            saltern_report.report("skipped", host=host.name, **_names(state, op_hash))

    def done(self, meta: Any) -> None:
        from pyinfra import context

        state, host = context.state, context.host
        known = state.ops[host][meta._hash]
        start = self._begun.pop((meta._hash, host.name), time.time())
        saltern_report.report(
            "done",
            host=host.name,
            success=meta.did_succeed(),
            changed=meta.did_change(),
            ignored=bool(known.global_arguments.get("_ignore_errors")),
            held=not meta._commands and not _holds(known.global_arguments.get("_if")),
            commands=[_shown(command) for command in meta._commands or []],
            stdout=meta.stdout,
            stderr=meta.stderr,
            retries=getattr(meta, "retry_attempts", 0),
            parent=known.parent_op_hash,
            start=start,
            took=max(time.time() - start, 0.0),
            **_names(state, meta._hash, host),
        )

    def would(self, state: Any) -> None:
        """Report the results of a dry run."""
        for op_hash in state.get_op_order() if self._dry else ():
            for host in state.inventory:
                if op_hash in state.ops[host]:
                    known = state.ops[host][op_hash]
                    saltern_report.report(
                        "would",
                        host=host.name,
                        changed=bool(known.operation_meta._maybe_is_change),
                        conditional=bool(known.global_arguments.get("_if")),
                        commands=list(_commands(host, known))
                        if known.operation_meta._maybe_is_change
                        else [],
                        **_names(state, op_hash, host),
                    )


def _names(state: Any, op_hash: str, host: Any = None) -> dict[str, Any]:
    meta = state.get_op_meta(op_hash)
    hosts = [host] if host is not None else [one for one in state.inventory if op_hash in state.ops[one]]
    return {
        "hash": op_hash,
        "name": ", ".join(sorted(meta.names)),
        "args": list(meta.args),
        "fun": next((_fun(state.ops[one][op_hash]) for one in hosts), ""),
    }


def _fun(known: Any) -> str:
    """The name of the function, such as ``files.put``; pyinfra has it only where it is called."""
    inner = known.command_generator
    kept = dict(zip(inner.__code__.co_freevars, inner.__closure__ or ()))
    function = kept["func"].cell_contents if "func" in kept else None
    if function is None:
        return ""
    return "{}.{}".format((function.__module__ or "").rpartition(".")[2], function.__name__)


def _holds(conditions: Any) -> bool:
    asked = conditions if isinstance(conditions, list) else [conditions] if conditions else []
    try:
        return all(condition() for condition in asked)
    except Exception:
        return True


def _shown(command: Any) -> str:
    """A command as text that is the same in each run. Shell commands hide their secrets themselves."""
    if hasattr(command, "function"):
        return f"call {getattr(command.function, '__name__', 'a function')}"
    if hasattr(command, "src") and hasattr(command, "dest"):
        word = "download" if "Download" in type(command).__name__ else "upload"
        return f"{word} {_end(command.src)} to {_end(command.dest)}"
    return str(command)


def _end(place: Any) -> str:
    return str(place) if isinstance(place, (str, os.PathLike)) else str(getattr(place, "name", "a text"))


def _commands(host: Any, known: Any) -> Iterator[str]:
    """The commands it would run. pyinfra itself checks only the first; the rest may depend on its effects."""
    from pyinfra.context import ctx_host

    try:
        with ctx_host.use(host):
            for command in known.command_generator():
                yield _shown(command)
    except Exception:
        return


def main() -> None:
    wanted = saltern_report.arguments(sys.argv[1])
    sys.argv = ["pyinfra", *wanted["argv"]]
    sys.path.pop(0)
    from pyinfra_cli.main import main as pyinfra

    reporter = Reporter(bool(wanted["dry"]))
    reporter.listen()
    saltern_report.report("start")
    try:
        pyinfra()
    except SystemExit as end:
        if reporter.interrupted and not end.code:
            sys.exit(INTERRUPTED)
        raise


if __name__ == "__main__":
    main()
