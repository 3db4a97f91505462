"""``salt.function``: one execution function on other systems."""

from __future__ import annotations

import re

from msgspec import Struct

from saltern.language.result import Outcome, Result, SubResult, would_change
from saltern.language.returner_names import return_options, returner_names
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.orchestration import RemoteCall, SystemReturn
from saltern.modules.api.params import Ignored
from saltern.modules.lib.orchestration.calls import make_call, system_list
from saltern.modules.lib.orchestration.targets import compound

_FUNCTION = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
SHOWN = 200  # characters of a value in the comment of a sub state


class Judge(Struct, frozen=True):
    """Decides whether the return of a system is a success; with ``check``, that function decides."""

    ctx: Context
    check: str | None = None
    expects: bool = False

    def is_fine(self, one: SystemReturn) -> bool:
        if one.is_away:
            return not self.expects
        if not one.is_ok or one.value is False:
            return False
        return bool(self.ctx.functions[self.check](one.value)) if self.check else True


@state
def function(
    ctx: Context,
    /,
    name: str,
    *,
    tgt: object,
    tgt_type: str = "glob",
    arg: object = None,
    kwarg: dict[str, object] | None = None,
    expect_minions: bool = False,
    fail_minions: object = None,
    fail_function: str | None = None,
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
    """Call an execution function on other systems. Each system is a sub state; its value is in ``changes``
    under ``ret``. In test mode nothing is called.

    Args:
        name: the function, such as ``cmd.run``.
        tgt: which systems.
        tgt_type: how ``tgt`` is read: glob, list, compound, grain, pillar, pcre, nodegroup, ipcidr and so on.
        arg: the arguments of the function, as a list.
        kwarg: its keywords, as a mapping.
        expect_minions: fail if a system does not respond; by default it is left out.
        fail_minions: systems that may fail.
        fail_function: an execution function that gets each return, and decides whether it is a success.
        batch: how many systems to run on at a time: a number or a percentage.
        batch_wait: seconds between two systems of a batch.
        subset: run on only this many of the systems, chosen at random.
        timeout: seconds within which a system must accept the job; a system that runs it is waited for.
        wait: seconds to wait for systems that are offline.
        failhard: skip the rest of a batch after the first failure.
        ret: returners that each system calls with its return: a list, or names separated by commas.
        ret_config: the key of the returners' settings in the configuration of a system.
        ret_kwargs: settings of the returners that override those.

    Example:
        ```yaml
        cmd.run:
          salt.function:
            - tgt: 'db*'
            - arg:
              - systemctl restart postgresql
        ```
    """
    if not _FUNCTION.fullmatch(name):
        fix = "give it as 'name'; the default is the ID of the state"
        return Result(outcome=Outcome.FAILED, comment=f"{name!r} is not the name of a function: {fix}")
    if ctx.test:
        return would_change(f"Function {name} would be executed on target {tgt}")
    may_fail, warnings = system_list(fail_minions, "fail_minions")
    if isinstance(arg, str):
        warnings = (*warnings, "Please specify 'arg' as a list of arguments.")
        arg = arg.split()
    call = RemoteCall(
        function=name,
        target=compound(tgt, tgt_type),
        args=list(arg) if isinstance(arg, list | tuple) else [] if arg is None else [arg],
        kwargs=kwarg or {},
        batch="" if batch is None else str(batch),
        batch_wait=batch_wait,
        batch_failures="0" if failhard and batch is not None else "",
        subset=subset or 0,
        wait=wait,
        timeout=timeout or 0,
        returners=returner_names(ret),
        return_options=return_options(ret_config, ret_kwargs),
    )
    judge = Judge(ctx, fail_function, expect_minions)
    called = make_call(ctx, call, lambda one: _step(one, judge), may_fail=may_fail)
    known = sorted(called.returns.items())
    heard = {key: one for key, one in known if expect_minions or not one.is_away}
    data: dict[str, object] = {"jid": called.jid}
    if not heard:
        return Result(outcome=Outcome.FAILED, comment="No minions responded", data=data)
    bad = [key for key, one in heard.items() if not judge.is_fine(one) and key not in may_fail]
    ran = f" Function {name} ran on {', '.join(heard)}."
    comment = f"Running function {name} failed on minions: {', '.join(bad)}" if bad else OK
    return Result(
        outcome=Outcome.FAILED if bad else Outcome.OK,
        comment=comment + ran,
        changes={"ret": {key: one.value if one.has_value else False for key, one in heard.items()}},
        data=data,
        warnings=warnings,
        sub=tuple(called.sub),
        extra={"__jid__": called.jid} if called.jid else {},
    )


OK = "Function ran successfully."


def _step(one: SystemReturn, judge: Judge) -> SubResult:
    fine = judge.is_fine(one)
    shown = one.value if isinstance(one.value, str) else repr(one.value)
    why = one.why or f"it returned {shown[:SHOWN]}"
    return SubResult(
        name=one.system,
        id=one.system,
        outcome=Outcome.OK if fine else Outcome.FAILED,
        comment=shown[:SHOWN] if fine and one.has_value else why,
        data={"return": one.value} if one.has_value else {},
        warnings=one.warnings,
        ran=not one.is_away,
        sub=one.steps,
    )
