"""Call a function on other systems, and return the value of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from saltern.language.returner_names import return_options, returner_names
from saltern.modules.api.context import Context
from saltern.modules.api.orchestration import CallRefused, NoSystems, RemoteCall, SystemReturn
from saltern.modules.api.refused import Refused
from saltern.modules.lib.orchestration.calls import next_token, orchestration_of
from saltern.modules.lib.orchestration.targets import compound


def remote_values(
    ctx: Context,
    tgt: object,
    tgt_type: str,
    function: str,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    *,
    timeout: float = 0,
    full: bool = False,
    returning: Mapping[str, object] = {},
) -> dict[str, object]:
    """The value of each system that responds; with ``full`` in a mapping with its exit code.

    ``returning``: ``ret``, ``ret_config`` and ``ret_kwargs`` as in Salt.
    """
    found: dict[str, SystemReturn] = {}
    call = RemoteCall(
        function=function,
        target=compound(tgt, tgt_type),
        args=args,
        kwargs=kwargs,
        timeout=timeout,
        returners=returner_names(returning.get("ret")),
        return_options=return_options(returning.get("ret_config"), returning.get("ret_kwargs")),
    )
    try:
        jid = orchestration_of(ctx).call(call, next_token(ctx), lambda one: found.update({one.system: one}))
    except NoSystems:
        return {}
    except CallRefused as problem:
        raise Refused(str(problem)) from None
    there = {name: one for name, one in sorted(found.items()) if not one.is_away}
    if not full:
        return {name: one.value if one.has_value else one.why for name, one in there.items()}
    return {
        name: {"ret": one.value, "retcode": one.exit_code, "jid": jid, "success": one.is_ok}
        for name, one in there.items()
    }
