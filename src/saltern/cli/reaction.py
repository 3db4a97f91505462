"""The process of a ``runner`` or ``wheel`` reaction: reads the call from standard input, and writes its
answer to standard output, both as JSON. A controller starts it; ``SALTERN_TOKEN`` is the login that it uses.
"""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import Any

import msgspec

from saltern.fleet.reactor.calls import RunnerAnswer, RunnerCall
from saltern.language.diagnostics import SalternError


def main() -> int:
    call = msgspec.json.decode(sys.stdin.buffer.read(), type=RunnerCall)
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a runner's own output must not mix with its answer
    try:
        made = RunnerAnswer(value=_call(call))
    except SalternError as problem:
        made = RunnerAnswer(problem="; ".join(one.what for one in problem.diagnostics))
    except Exception as problem:
        made = RunnerAnswer(problem=f"{call.function} failed: {type(problem).__name__}: {problem}")
    answer.write(msgspec.json.encode(made, enc_hook=str))
    answer.flush()
    return 0


def _call(call: RunnerCall) -> Any:
    """Run the call in a session with the files of the controller."""
    from saltern.cli.connect import connect
    from saltern.cli.orchestration_fleet import orchestration_settings
    from saltern.engine.nested_engine import make_session
    from saltern.fleet.client.client import Client
    from saltern.fleet.orchestration.local import SessionLocal
    from saltern.fleet.runners.table import run_runner, run_wheel

    def connect_client() -> Client:
        return connect(SimpleNamespace(controller=call.controller))

    with connect_client() as client:
        if call.kind == "wheel":
            return run_wheel(call.function, call.args, call.kwargs, client)
        engine = make_session(orchestration_settings(_options(call)))
        engine.load_pillar()
        local = SessionLocal(engine, connect_client, call.jid, ["--controller", call.controller])
        return run_runner(
            call.function, call.args, call.kwargs, client, jid=call.jid, token=call.jid, local=local
        )


def _options(call: RunnerCall) -> SimpleNamespace:
    """The options for reading the configuration: only the controller."""
    from saltern.cli.arguments import parse
    from saltern.cli.runner import LINE

    args = parse(LINE, ["--controller", call.controller, call.function])
    args.roster = None
    return args


if __name__ == "__main__":
    sys.exit(main())
