"""One run of Terraform or OpenTofu: init, plan, read the plan, and apply it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from saltern.language.result import Outcome, Result, failed
from saltern.modules.api.commands import environment
from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.api.refused import Refused
from saltern.modules.lib.engines.drive import Ended, Heard, drive, unparsed_step
from saltern.modules.lib.engines.find import configured_path, search
from saltern.modules.lib.engines.flags import flags
from saltern.modules.lib.engines.marked_lines import why
from saltern.modules.lib.engines.missing_input import absent
from saltern.modules.lib.engines.scratch import Scratch, json_text, path_on_disk
from saltern.modules.lib.engines.steps import Steps, Verdict, conclude
from saltern.modules.lib.engines.terraform.events import WOULD, Applied, Stream, step
from saltern.modules.lib.engines.terraform.plan import NOTHING, PlannedChange, TerraformPlan, read

INSTALL = "Terraform from developer.hashicorp.com/terraform, or OpenTofu from opentofu.org"
PROGRAMS = ("terraform", "tofu")
CHANGES = 2  # with -detailed-exitcode
MOST_ERRORS = 5
# argument of the state → option, by command
INIT = {"upgrade": "-upgrade", "reconfigure": "-reconfigure", "backend_config": "-backend-config"}
LOCK = {"parallelism": "-parallelism", "lock_timeout": "-lock-timeout"}
PLAN = {
    "targets": "-target",
    "replace": "-replace",
    "destroy": "-destroy",
    "refresh_only": "-refresh-only",
    **LOCK,
}


class Wanted(Struct, frozen=True, kw_only=True):
    """What to run; ``given`` are the options, by the names of ``INIT`` and ``PLAN``."""

    directory: str
    given: Mapping[str, object]
    variables: Mapping[str, object]
    var_files: Sequence[str] = ()
    program: str | None = None
    init: bool = True
    workspace: str | None = None
    refresh: bool = True
    lock: bool = True
    bin_dir: str | None = None
    env: object = None
    timeout: float | None = None


class TerraformProgram:
    """One program in one directory, and the logs of what it ran."""

    def __init__(self, ctx: Context, program: str, wanted: Wanted) -> None:
        self.ctx = ctx
        self.name = os.path.basename(program)
        self._program = program
        self._wanted = wanted
        self.logs: list[str] = []
        workspace = {"TF_WORKSPACE": wanted.workspace} if wanted.workspace else {}
        self._env = {"TF_IN_AUTOMATION": "1", "TF_INPUT": "0", **workspace, **environment(wanted.env)}

    def run(self, *words: str, out: Heard) -> Ended:
        ended = drive(
            self.ctx,
            "terraform",
            [self._program, *words],
            out=out,
            cwd=self._wanted.directory,
            env=self._env,
            timeout=self._wanted.timeout,
        )
        self.logs.append(ended.log)
        return ended

    def read_plan(self, plan: str) -> Mapping[str, Any] | None:
        """The whole plan, including secrets: it is read from a pipe, and not logged."""
        import json

        argv = [self._program, "show", "-json", "-no-color", plan]
        ran = self.ctx.host.run(argv, cwd=self._wanted.directory, env=self._env, user=self.ctx.runas)
        try:
            found = json.loads(ran.out) if ran.code == 0 else None
        except ValueError:
            return None
        return found if isinstance(found, dict) else None


def locate(ctx: Context, wanted: Wanted) -> str:
    """The requested program, or the first that is installed; else raises ``Refused``."""
    names = (wanted.program,) if wanted.program else PROGRAMS
    missing: list[Refused] = []
    for name in names:
        found = search(ctx, name, engine=_engine(ctx, name), install=INSTALL, bin_dir=wanted.bin_dir)
        if isinstance(found, str):
            return found
        missing.append(found)
    raise missing[0]


def _engine(ctx: Context, name: str) -> str:
    return name if configured_path(ctx, name) else PROGRAMS[0]


def run(ctx: Context, wanted: Wanted) -> Result:
    """Run Terraform. A missing program, unreadable files and a failed resource are failed results."""
    if not os.path.isabs(wanted.directory):
        raise BadArgument(f"{wanted.directory} is not the absolute path of a directory")
    if not os.path.isdir(wanted.directory):
        return absent(ctx, "directory", wanted.directory)
    program = locate(ctx, wanted)
    tool = TerraformProgram(ctx, program, wanted)
    steps = Steps(ctx)
    if wanted.init:
        ended = tool.run("init", "-input=false", "-no-color", *flags(INIT, wanted.given), out=_nothing)
        if ended.code:
            return _conclude(tool, "init", steps, ended, why=ended.tail)
    with Scratch(ctx) as scratch:
        return _plan(tool, wanted, steps, scratch)


def _nothing(_line: str) -> None:
    """Ignore a line: output for people is in the log."""


def _plan(tool: TerraformProgram, wanted: Wanted, steps: Steps, scratch: Scratch) -> Result:
    file = scratch.write("plan", "")
    stream = Stream()
    options = [*flags(PLAN, wanted.given), *_locks(wanted), *_variables(tool.ctx, scratch, wanted)]
    ended = tool.run(
        "plan", "-json", "-input=false", "-detailed-exitcode", f"-out={file}", *options, out=stream.read_line
    )
    if ended.code not in (0, CHANGES) or ended.timed_out:
        return _conclude(tool, "plan", steps, ended, stream=stream, why=_why(stream, steps, ended))
    shown = tool.read_plan(file)
    if shown is None:
        steps.add(unparsed_step(ended, "its plan could not be read, and nothing was applied"))
        return failed(f"{tool.name} show: its plan could not be read", log=ended.log, logs=tool.logs)
    plan = read(shown)
    for one in plan.resources.values():
        if one.actions == NOTHING:
            steps.add(step(one, Outcome.OK, "no changes"))
    if tool.ctx.test or ended.code == 0:
        return _predict(tool, steps, plan, stream, ended)
    return _apply(tool, wanted, steps, plan, stream, file)


def _locks(wanted: Wanted) -> list[str]:
    return [*([] if wanted.lock else ["-lock=false"]), *([] if wanted.refresh else ["-refresh=false"])]


def _variables(ctx: Context, scratch: Scratch, wanted: Wanted) -> list[str]:
    """The options for variables; values are written to a private file, since they may be secrets."""
    files = [os.path.join(wanted.directory, path_on_disk(ctx, one)) for one in wanted.var_files]
    for file in files:
        if not os.path.isfile(file):
            raise BadArgument(f"no file of variables is at {file}")
    if wanted.variables:
        files.append(scratch.write("given.tfvars.json", json_text(wanted.variables)))
    return [f"-var-file={file}" for file in files]


def _predict(
    tool: TerraformProgram, steps: Steps, plan: TerraformPlan, stream: Stream, ended: Ended
) -> Result:
    for one in plan.resources.values():
        if one.actions != NOTHING:
            outcome = Outcome.OK if one.word == "read" else Outcome.WOULD_CHANGE
            steps.add(step(one, outcome, WOULD.get(one.word, one.word), changes=one.changes))
    for one in plan.outputs.values():
        if one.actions != NOTHING:
            steps.add(step(one, Outcome.WOULD_CHANGE, f"would be {one.word}d", changes=one.changes))
    return _conclude(tool, "plan", steps, ended, stream=stream, outputs=plan.values, fine=(0, CHANGES))


def _apply(
    tool: TerraformProgram,
    wanted: Wanted,
    steps: Steps,
    plan: TerraformPlan,
    planned: Stream,
    file: str,
) -> Result:
    applied = Applied(steps, plan)
    locks = [] if wanted.lock else ["-lock=false"]
    ended = tool.run(
        "apply", "-json", "-input=false", *flags(LOCK, wanted.given), *locks, file, out=applied.read_line
    )
    applied.over(ended.code)
    if ended.code == 0:
        for name, one in plan.outputs.items():
            if one.actions != NOTHING:
                steps.add(
                    step(
                        one, Outcome.OK, f"{one.word}d", changes=_settle_value(one, applied.values.get(name))
                    )
                )
    applied.warnings[:0] = planned.warnings
    values = applied.values or plan.values
    return _conclude(
        tool, "apply", steps, ended, stream=applied, outputs=values, why=_why(applied, steps, ended)
    )


def _settle_value(one: PlannedChange, value: object) -> dict[str, object]:
    """The change with the value that was unknown in the plan."""
    change = one.changes.get("value")
    return {"value": {**change, "new": value}} if isinstance(change, dict) else one.changes


def _why(stream: Stream, steps: Steps, ended: Ended) -> str:
    return "\n".join(stream.errors[:MOST_ERRORS]) or why(steps, ended)


def _conclude(
    tool: TerraformProgram,
    command: str,
    steps: Steps,
    ended: Ended,
    *,
    why: str = "",
    stream: Stream | None = None,
    outputs: Mapping[str, object] | None = None,
    fine: tuple[int, ...] = (0,),
) -> Result:
    return conclude(
        f"{tool.name} {command}",
        steps,
        ended,
        Verdict(
            what="result",
            fine=fine,
            data={"program": tool.name, "outputs": dict(outputs or {}), "logs": tool.logs},
            why=why,
            warnings=tuple(dict.fromkeys(stream.warnings)) if stream else (),
        ),
    )
