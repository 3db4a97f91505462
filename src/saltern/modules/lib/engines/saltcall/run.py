"""One run of ``salt-call --local``, its states reported while it runs."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

from saltern.config.settings import cache_directory
from saltern.language.result import Result
from saltern.modules.api.commands import environment
from saltern.modules.api.context import Context
from saltern.modules.lib.engines.drive import Ended, drive, unparsed_step
from saltern.modules.lib.engines.find import find
from saltern.modules.lib.engines.marked_lines import INSIDE, Listener, why
from saltern.modules.lib.engines.saltcall.events import States
from saltern.modules.lib.engines.scratch import Scratch, json_text
from saltern.modules.lib.engines.steps import Steps, Verdict, conclude

INSTALL = "pip install salt into its own environment, or the package salt-minion of Salt's repository"
CODES = {
    0: "before it was done",
    1: "the states do not compile, or an error",
    2: "a state failed",
    5: "the pillar cannot be read",
}
LATE = "the internals of this Salt are unknown: its states were reported when all of them were done"
OUTPUT = ("--no-color", "--out=highstate", "--state-output=full", "--retcode-passthrough")


class Call(Struct, frozen=True, kw_only=True):
    """What to call. ``arguments`` are those of Salt's function, ``config`` that of its minion."""

    arguments: Mapping[str, object]
    config: Mapping[str, object]
    config_dir: str | None = None
    log_level: str = "warning"
    cwd: str | None = None
    bin_dir: str | None = None
    env: object = None
    timeout: float | None = None


def call(ctx: Context, wanted: Call) -> Result:
    """Run Salt. A missing program, files that do not compile and a failed state are failed results."""
    program = find(ctx, "salt-call", engine="saltcall", install=INSTALL, bin_dir=wanted.bin_dir)
    steps = Steps(ctx)
    states = States(steps)
    listener = Listener(states.handlers)
    with Scratch(ctx) as scratch:
        place = _write_configuration(ctx, scratch, wanted)
        ended = drive(
            ctx,
            "saltcall",
            [program, "--local", "-c", place, f"--log-level={wanted.log_level}", *OUTPUT, "state.apply"],
            out=listener.read_line,
            cwd=wanted.cwd,
            env={"PYTHONIOENCODING": "utf-8:backslashreplace", **environment(wanted.env)},
            timeout=wanted.timeout,
        )
    states.over(ended="end" in listener.heard)
    return _result(wanted, steps, states, listener, ended)


def _write_configuration(ctx: Context, scratch: Scratch, wanted: Call) -> str:
    """A configuration directory. Included files override the main file, so ours is included last."""
    own = os.path.expanduser(wanted.config_dir) if wanted.config_dir else None
    theirs = [os.path.join(own, "minion"), os.path.join(own, "minion.d", "*.conf")] if own else []
    call_file = scratch.write("call.json", json_text(wanted.arguments))
    place = os.path.dirname(call_file)
    ours = scratch.write(
        "saltern.conf",
        json_text(
            {
                **_places(ctx, place, keep=own is not None),
                **wanted.config,
                "file_client": "local",
                "executor_dirs": [os.path.join(INSIDE, "saltern_executors")],
                "module_executors": ["saltern"],
                "saltern_call": call_file,
            }
        ),
    )
    scratch.write("minion", json_text({"include": [*theirs, ours]}))
    return place


def _places(ctx: Context, scratch: str, *, keep: bool) -> dict[str, object]:
    """The directories of Salt's files: ours or temporary ones, unless its own configuration sets them."""
    if keep:
        return {}
    base = scratch if ctx.runas else os.path.join(cache_directory(ctx.settings), "engines", "saltcall")
    return {
        "id": ctx.settings.id,
        "cachedir": os.path.join(base, "cache"),
        "pki_dir": os.path.join(base, "pki"),
        "sock_dir": os.path.join(scratch, "sock"),
        "log_file": os.path.join(scratch, "log"),
        "log_level_logfile": "quiet",
        "file_roots": ctx.settings.file_roots,
        "pillar_roots": ctx.settings.pillar_roots,
    }


def _result(wanted: Call, steps: Steps, states: States, listener: Listener, ended: Ended) -> Result:
    """The result. An interrupted Salt ends with 0, but does not report its end."""
    reported = "start" in listener.heard
    broken = reported and not listener.heard & {"end", "errors"}
    if not reported and ended.code == 0:
        steps.add(unparsed_step(ended, "it has reported nothing"))
    return conclude(
        "salt-call",
        steps,
        ended,
        Verdict(
            what="state",
            fine=() if broken else (0,),
            codes=CODES,
            data={"sls": wanted.arguments.get("mods") or "highstate"},
            why="\n".join(states.errors) or why(steps, ended),
            warnings=(*listener.warnings, *([LATE] if "deaf" in listener.heard else [])),
        ),
    )
