"""One run of ``idem state``, its states reported while it runs."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.commands import environment
from saltern.modules.api.context import Context
from saltern.modules.lib.engines.drive import Ended, drive, unparsed_step
from saltern.modules.lib.engines.find import find, interpreter
from saltern.modules.lib.engines.flags import flags
from saltern.modules.lib.engines.idem.events import States
from saltern.modules.lib.engines.marked_lines import INSIDE, Listener, why
from saltern.modules.lib.engines.scratch import Scratch, json_text
from saltern.modules.lib.engines.steps import Steps, Verdict, conclude

INSTALL = "pip install idem, and the plugins that the SLS files need, into its own environment"
CODES = {0: "which it gives also when states fail"}
# argument of the state → option of Idem
OPTIONS = {
    "sls_sources": "--sls-sources",
    "params": "--params",
    "param_sources": "--param-sources",
    "tree": "--tree",
    "target": "--target",
    "invert": "--invert",
    "render": "--render",
    "runtime": "--runtime",
    "batch_size": "--batch-size",
    "reconciler": "--reconciler",
    "max_pending_reruns": "--max-pending-reruns",
    "hard_fail": "--hard-fail",
    "esm_plugin": "--esm-plugin",
    "esm_profile": "--esm-profile",
    "run_name": "--run-name",
    "root_dir": "--root-dir",
    "cache_dir": "--cache-dir",
    "config": "--config",
    "acct_file": "--acct-file",
    "acct_key": "--acct-key",
    "acct_profile": "--acct-profile",
    "log_level": "--log-level",
}


class Wanted(Struct, frozen=True, kw_only=True):
    """What to run; ``given`` are the options, by the names of ``OPTIONS``."""

    sls: list[str]
    cwd: str | None
    given: Mapping[str, object]
    test: bool
    bin_dir: str | None = None
    env: object = None
    timeout: float | None = None


def run(ctx: Context, wanted: Wanted) -> Result:
    """Run Idem. A missing program, unreadable files and a failed state are failed results."""
    program = find(ctx, "idem", engine="idem", install=INSTALL, bin_dir=wanted.bin_dir)
    steps = Steps(ctx)
    states = States(steps, test=wanted.test)
    listener = Listener(states.handlers)
    mode = ["--test"] if wanted.test else []
    argv = ["state", *wanted.sls, *mode, *flags(OPTIONS, wanted.given, spread=True), "--output=saltern_rest"]
    with Scratch(ctx) as scratch:
        argv.append(f"--log-file={scratch.write('idem.log', '')}")  # else it is in our working directory
        ended = drive(
            ctx,
            "idem",
            [
                *interpreter(program),
                os.path.join(INSIDE, "saltern_idem.py"),
                scratch.write("call.json", json_text({"argv": argv})),
            ],
            out=listener.read_line,
            cwd=wanted.cwd,
            env=environment(wanted.env),
            timeout=wanted.timeout,
        )
    states.over()
    return _result(wanted, steps, listener, ended)


def _result(wanted: Wanted, steps: Steps, listener: Listener, ended: Ended) -> Result:
    """The result: Idem ends with 0 even if states failed, so the states decide."""
    whole = "end" in listener.heard
    if not whole and ended.code == 0:
        steps.add(unparsed_step(ended, "it has not reported its results"))
    return conclude(
        "idem",
        steps,
        ended,
        Verdict(
            what="state",
            fine=() if steps.failures or "not_reached" in steps.counts else (0,),
            codes=CODES if whole else {},
            data={"sls": wanted.sls},
            why=why(steps, ended),
            warnings=listener.warnings,
        ),
    )
