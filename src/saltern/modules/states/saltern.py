"""``saltern``: this program itself."""

# ruff: noqa: ARG001 - every state has a name; arguments are Salt's

from __future__ import annotations

import os

import saltern
from saltern.language.result import Outcome, Result, would_change
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused, one_line
from saltern.modules.lib.builds.install import Wanted, install, prove
from saltern.system import build_slots as kept


@state
def updated(
    ctx: Context,
    name: str,
    *,
    version: str,
    source: str | None = None,
    hashes: str | None = None,
    deps: bool = True,
    slots: str = kept.ROOT,
    deadline: float = 60.0,
) -> Result:
    """Update saltern to a version, and continue the run in the new one.

    The new build is installed into its own slot (a virtual environment) and tested there: it must start, be
    the requested version, and read the journal of this run. Then the link `current` is switched,
    the process is replaced by the new build, and the run continues with the next state. If the new build does
    not start in time, a watchdog switches back, the old build continues, and this state has failed. If this
    version is running already, nothing is done.

    Args:
        name: any text.
        version: the version to run.
        source: where to get it: a directory of wheels, a wheel, or the URL of an index; the index that pip
            is configured with if not given.
        hashes: a requirements file with a hash for every package; no other packages are installed then.
        deps: install the dependencies of the build, too.
        slots: the directory of the slots and the link.
        deadline: seconds within which the new build must have taken over.

    Example:
        ```yaml
        this program is kept as it is:
          saltern.updated:
            - version: 0.1.0
            - slots: /opt/saltern
        ```
    """
    wanted = Wanted(version=_version(version), source=source, hashes=hashes, deps=deps)
    if deadline <= 0:
        raise Refused(f"deadline must be more than 0 seconds, not {deadline:g}")
    running = saltern.__version__
    crossing = ctx.run.crossing
    if crossing is not None and crossing.kind == "update" and not ctx.test:
        changes: dict[str, object] = {"saltern": {"old": crossing.ask["from"], "new": running}}
        comment = f"saltern was updated to {running}"
        return Result(outcome=Outcome.OK, comment=comment, changes=changes, data=_facts(slots))
    if running == wanted.version:
        comment = f"saltern {running} is running already"
        return Result(outcome=Outcome.OK, comment=comment, data=_facts(slots))
    changes = {"saltern": {"old": running, "new": wanted.version}}
    if ctx.test:
        comment = f"saltern would be updated to {wanted.version}"
        return would_change(comment, changes, _facts(slots))
    return _build(ctx, wanted, slots, deadline)


def _build(ctx: Context, wanted: Wanted, root: str, deadline: float) -> Result:
    slot = kept.spare(root)
    place = os.path.join(root, slot)
    install(ctx, place, wanted)
    prove(ctx, place, wanted)
    ask = {
        "when": "again",
        "from": saltern.__version__,
        "to": wanted.version,
        "slots": os.path.abspath(root),
        "slot": slot,
        "deadline": deadline,
    }
    comment = f"saltern {wanted.version} is built and tested"
    return Result(outcome=Outcome.OK, comment=comment, data=_facts(root), extra={"update": ask})


def _facts(root: str) -> dict[str, object]:
    return {"version": saltern.__version__, "slots": root, "current": kept.in_use(root)}


def _version(text: str) -> str:
    """Raises ``Refused`` for what pip would read as an option or a range."""
    known = one_line(str(text), "version", without=" ")
    if not known[:1].isdigit():
        raise Refused(f"version needs a version such as 1.2.0, got {text!r}")
    return known
