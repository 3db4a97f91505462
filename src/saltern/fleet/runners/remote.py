"""``salt``: functions of this machine, and of systems of the fleet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any
from uuid import uuid4

from saltern.fleet.remote.calls import RemoteCalls
from saltern.fleet.runners.ports import Around, local_of, runner_problem
from saltern.language.returner_names import return_options, returner_names
from saltern.modules.api.orchestration import CallRefused, NoSystems, RemoteCall, SystemReturn
from saltern.modules.api.refused import Refused
from saltern.modules.lib.orchestration.targets import compound


def target_of(tgt: object, tgt_type: str = "glob") -> str:
    """The compound target. Raises ``OperationError``."""
    try:
        return compound(tgt, tgt_type)
    except Refused as problem:
        raise runner_problem(str(problem)) from None


def cmd(around: Around, fun: str, *args: object, **kwargs: object) -> object:
    """Call an execution function of the machine that the controller is on."""
    kwargs.pop("with_pillar", None)
    return local_of(around, "salt.cmd").function(fun, args, kwargs)


def execute(
    around: Around,
    tgt: object,
    fun: str,
    arg: Sequence[object] = (),
    timeout: float | None = None,
    tgt_type: str = "glob",
    ret: object = "",
    jid: str = "",  # noqa: ARG001
    kwarg: Mapping[str, object] | None = None,
    ret_config: str = "",
    ret_kwargs: Mapping[str, object] | None = None,
    **kwargs: object,
) -> dict[str, Any]:
    """Call a function on the systems of a target; return what each connected one returned."""
    found: dict[str, Any] = {}

    def hear(one: SystemReturn) -> None:
        if one.has_value:
            found[one.system] = one.value
        elif not one.is_away:
            found[one.system] = one.why

    call = RemoteCall(
        function=fun,
        target=target_of(tgt, tgt_type),
        args=[arg] if isinstance(arg, str) else list(arg),
        kwargs={**(kwarg or {}), **kwargs},
        timeout=timeout or 0,
        returners=returner_names(ret),
        return_options=return_options(ret_config, ret_kwargs),
    )
    return call_systems(around, call, found, hear)


def call_systems(around: Around, call: RemoteCall, found: dict[str, Any], heard: Any) -> dict[str, Any]:
    """Make a call; ``hear`` puts the results into ``found``. Raises ``OperationError``."""
    calls = RemoteCalls(lambda: nullcontext(around.ask), around.jid)
    try:
        calls.call(call, f"{around.jid}/{around.token}" if around.token else uuid4().hex, heard)
    except NoSystems:
        return {}
    except CallRefused as problem:
        raise runner_problem(str(problem)) from None
    return dict(sorted(found.items()))


RUNNERS = {"salt.cmd": cmd, "salt.execute": execute}
