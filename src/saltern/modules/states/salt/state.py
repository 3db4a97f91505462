"""``salt.state``: states on other systems."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from saltern.language.result import Outcome, Result, SubResult
from saltern.language.returner_names import return_options, returner_names
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state as declared
from saltern.modules.api.orchestration import RemoteCall, SystemReturn
from saltern.modules.api.params import Ignored
from saltern.modules.api.refused import Refused
from saltern.modules.lib.orchestration.calls import Called, make_call, system_list
from saltern.modules.lib.orchestration.targets import compound


class Passing(Struct, frozen=True, kw_only=True):
    """Which failures are accepted: those of the named systems, and this many of the others."""

    systems: tuple[str, ...] = ()
    most: int = 0
    expects: bool = True


@declared(name="state")
def state(
    ctx: Context,
    /,
    name: str,  # noqa: ARG001
    *,
    tgt: object,
    tgt_type: str = "glob",
    sls: object = None,
    highstate: bool | None = None,
    top: str | None = None,
    test: bool | None = None,
    pillar: dict[str, object] | None = None,
    saltenv: str | None = None,
    pillarenv: str | None = None,
    exclude: object = None,
    expect_minions: bool = True,
    fail_minions: object = None,
    allow_fail: object = 0,
    concurrent: object = False,
    queue: object = False,
    batch: object = None,
    batch_wait: float = 0,
    subset: int | None = None,
    timeout: float | None = None,
    wait: float = 0,
    failhard: bool | None = None,
    ret: object = "",
    ret_config: str | None = None,
    ret_kwargs: dict[str, object] | None = None,
    **_: Ignored,
) -> Result:
    """Apply states to other systems. Each system is a sub state, with its own states below it.

    It fails if a system fails or does not respond. In test mode the systems run in test mode. ``data`` has
    the returns of the systems under ``ret``, and the job ID.

    Args:
        name: any name.
        tgt: which systems.
        tgt_type: how ``tgt`` is read: glob, list, compound, grain, pillar, pcre, nodegroup, ipcidr and so on.
        sls: the names of state files, as a list or separated by commas.
        highstate: apply the states of the top file, instead of ``sls``.
        top: the name of a top file to use instead of ``top.sls``.
        test: run in test mode, or not, whatever the orchestration does.
        pillar: pillar data that overrides that of the systems.
        saltenv: the environment of the state files.
        pillarenv: the environment of the pillar.
        exclude: state files or IDs to leave out.
        expect_minions: fail if a system does not respond; false: leave it out.
        fail_minions: systems that may fail.
        allow_fail: how many systems may fail.
        concurrent: accepted; systems run one job with changes at a time.
        queue: accepted; a busy system runs the states when it is free.
        batch: how many systems to run on at a time: a number or a percentage.
        batch_wait: seconds between two systems of a batch.
        subset: run on only this many of the systems, chosen at random.
        timeout: seconds within which a system must accept the job; a system that runs it is waited for.
        wait: seconds to wait for systems that are offline; by default they count as failed at once.
        failhard: skip the rest of a batch after the first failure.
        ret: returners that each system calls with its return: a list, or names separated by commas.
        ret_config: the key of the returners' settings in the configuration of a system.
        ret_kwargs: settings of the returners that override those.

    Example:
        ```yaml
        web servers:
          salt.state:
            - tgt: 'web*'
            - sls: [nginx, shop]
        ```
    """
    may_fail, warnings = system_list(fail_minions, "fail_minions")
    passing = Passing(systems=may_fail, most=_number(allow_fail), expects=expect_minions)
    if not isinstance(concurrent, bool):
        raise Refused("Must pass in boolean for value of 'concurrent'")
    function, args = _function(highstate, top, sls)
    keywords = {"pillar": pillar, "pillarenv": pillarenv, "exclude": exclude, "queue": queue or None}
    environment = saltenv or "base"
    call = RemoteCall(
        function=function,
        target=compound(tgt, tgt_type),
        args=args,
        kwargs={key: value for key, value in keywords.items() if value},
        test=ctx.test if test is None else test,
        environment=environment,
        batch="" if batch is None else str(batch),
        batch_wait=batch_wait,
        batch_failures="0" if failhard and batch is not None else "",
        subset=subset or 0,
        wait=wait,
        timeout=timeout or 0,
        returners=returner_names(ret),
        return_options=return_options(ret_config, ret_kwargs),
        states=True,
    )
    called = make_call(
        ctx, call, lambda one: _step(one, passing), may_fail=passing.systems, allow_fail=passing.most
    )
    return _conclude(called, passing, warnings, test=call.test)


def _function(highstate: bool | None, top: str | None, sls: object) -> tuple[str, list[object]]:
    if highstate:
        return "state.highstate", []
    if top:
        return "state.top", [top]
    names = sls if isinstance(sls, list | tuple) else str(sls or "").split(",")
    found: list[object] = [str(name).strip() for name in names if str(name).strip()]
    if not found:
        raise Refused("No highstate or sls specified, no execution made")
    return "state.apply", found


def _number(value: object) -> int:
    try:
        return int(str(value))
    except ValueError:
        raise Refused("Passed invalid value for 'allow_fail', must be an int") from None


def _step(one: SystemReturn, passing: Passing) -> SubResult:
    """A system, with its states below it."""
    left_out = one.is_away and not passing.expects
    changes = changed_states(one.value)
    would = any(step.outcome is Outcome.WOULD_CHANGE for step in one.steps)
    outcome = Outcome.WOULD_CHANGE if would else Outcome.OK
    return SubResult(
        name=one.system,
        id=one.system,
        outcome=outcome if one.is_ok or left_out else Outcome.FAILED,
        comment=one.why if not one.is_ok else _sum(one),
        changes={"states": changes} if changes else {},
        warnings=one.warnings,
        ran=not one.is_away,
        sub=one.steps,
    )


def _sum(one: SystemReturn) -> str:
    return f"{len(one.steps)} states" if len(one.steps) != 1 else "1 state"


def changed_states(value: object) -> list[str]:
    """The IDs of states in a return that changed something."""
    if not isinstance(value, Mapping):
        return []
    rows = [(tag, one) for tag, one in value.items() if isinstance(one, Mapping) and one.get("changes")]
    return [str(one.get("__id__") or tag) for tag, one in rows]


def _conclude(called: Called, passing: Passing, warnings: tuple[str, ...], *, test: bool) -> Result:
    known = sorted(called.returns.items())
    returns = {name: one for name, one in known if passing.expects or not one.is_away}
    data: dict[str, object] = {
        "jid": called.jid,
        "ret": {name: one.value if one.has_value else False for name, one in returns.items()},
    }
    if not returns and passing.expects:
        return Result(outcome=Outcome.FAILED, comment="No minions returned", data=data)
    bad = [name for name, one in returns.items() if not one.is_ok and name not in passing.systems]
    changed = {name: found for name, one in returns.items() if (found := changed_states(one.value))}
    comment = _comment(returns, changed)
    outcome = Outcome.WOULD_CHANGE if test and changed else Outcome.OK
    if len(bad) > passing.most:
        outcome, comment = Outcome.FAILED, f"Run failed on minions: {', '.join(bad)}"
        details = [f"{name}: {returns[name].why}" for name in bad if returns[name].why]
        comment = "\n".join([comment, *details])
    return Result(
        outcome=outcome,
        comment=comment,
        changes={"ret": changed} if changed else {},
        data=data,
        warnings=warnings,
        sub=tuple(called.sub),
        extra={"__jid__": called.jid} if called.jid else {},
    )


def _comment(returns: Mapping[str, SystemReturn], changed: Mapping[str, object]) -> str:
    bad = [name for name, one in returns.items() if not one.is_ok]
    unchanged = [name for name, one in returns.items() if name not in changed and one.is_ok]
    parts = ["States ran successfully."]
    if changed:
        parts.append(f"Updating {', '.join(changed)}.")
    if unchanged:
        parts.append(f"No changes made to {', '.join(unchanged)}.")
    if bad:
        parts.append(f"It failed, as is allowed, on {', '.join(bad)}.")
    return " ".join(parts)
