"""States in a snapshot that is not booted yet: saltern is started with it as its root, and each state that it
applies there is reported as it ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field, json, to_builtins
from msgspec.structs import replace

from saltern.language.result import Result
from saltern.modules.api.commands import environment
from saltern.modules.api.context import Context
from saltern.modules.lib.engines.drive import Ended, drive
from saltern.modules.lib.engines.entries import step
from saltern.modules.lib.engines.marked_lines import Event, Listener, why
from saltern.modules.lib.engines.steps import Steps, Verdict, conclude, word_of
from saltern.modules.lib.program_ends import program_failure
from saltern.system import own_program
from saltern.system.snapshots import MARK

MODULE = "saltern.cli.in_snapshot"
HIGH = "states"  # in place of the name of a file
STATE, END = "state", "end"  # the events that are read
CODES = {
    2: "a state failed",
    3: "the states do not compile",
    126: "it cannot be started",
    127: "it is not there",
}
SURROUNDINGS = {
    MARK: "1",
    "PYTHONDONTWRITEBYTECODE": "1",  # else our own files would count as changes
}
MOST_NAMED = 3


class Wanted(Struct, frozen=True, kw_only=True):
    """What to apply: files by name, or ``states`` as the data of a rendered SLS; otherwise the states of the
    top file."""

    sls: tuple[str, ...] = ()
    states: dict[str, object] = field(default_factory=dict)
    pillar: dict[str, object] = field(default_factory=dict)
    saltenv: str | None = None

    def options(self) -> dict[str, object]:
        """The options of a request, without ``sls``."""
        found: dict[str, object] = {"pillar": self.pillar, "saltenv": self.saltenv}
        if self.states:
            text = json.encode(self.states, enc_hook=str).decode()
            found |= {"template": HIGH, "text": f"#!json\n{text}"}
        return found


class Task(Struct, frozen=True, kw_only=True):
    """The task of the process in the snapshot. ``known`` is the pillar of the calling run."""

    settings: dict[str, object]
    known: dict[str, object]
    wanted: Wanted


def start_command() -> list[str]:
    """The command that applies states, for a root in which this program has the same path as here."""
    return own_program.command(MODULE)


def apply_inside(
    ctx: Context, argv: Sequence[str], wanted: Wanted, *, env: object = None, timeout: float | None = None
) -> tuple[Result, bool]:
    """Run ``argv``, which starts ``start_command``. Returns its result, and whether a state has changed
    something.
    """
    steps, wrong = Steps(ctx), list[str]()

    def add(event: Event) -> None:
        found = step(event.get("entry"))
        steps.add(found)
        if word_of(found) == "failed":
            wrong.append(f"{found.id}: {program_failure(found.changes) or found.comment}")

    listener = Listener({STATE: add})
    ended = drive(
        ctx,
        "snapshot",
        argv,
        out=listener.read_line,
        env={**own_program.environment(), **SURROUNDINGS, **environment(env)},
        stdin=json.encode(_task(ctx, wanted), enc_hook=str),
        timeout=timeout,
    )
    return _conclude(steps, wrong, listener, ended), bool(steps.counts.get("changed"))


def _task(ctx: Context, wanted: Wanted) -> Task:
    settings: Mapping[str, object] = to_builtins(ctx.settings, enc_hook=str)
    return Task(settings=dict(settings), known=ctx.pillar, wanted=wanted)


def _conclude(steps: Steps, wrong: Sequence[str], listener: Listener, ended: Ended) -> Result:
    """The result. A killed process does not report its end, whatever its exit code is."""
    result = conclude(
        "saltern in the snapshot",
        steps,
        ended,
        Verdict(
            what="state",
            fine=(0,) if END in listener.heard else (),
            codes=CODES,
            why="" if wrong else why(steps, ended),
            warnings=listener.warnings,
        ),
    )
    more = [f"and {len(wrong) - MOST_NAMED} more"] if wrong[MOST_NAMED:] else []
    return replace(result, comment="\n".join([*wrong[:MOST_NAMED], *more, result.comment]))
