"""``saltutil``: what keeps a Salt minion fresh. A run reads everything anew, so there is nothing to do.

They are here so that trees that call them go on working.
"""

from __future__ import annotations

from saltern.modules.api import Function, function
from saltern.modules.context import Context

KINDS = (
    "beacons clouds engines executors grains log_handlers matchers modules output pillar proxymodules "
    "renderers resources returners sdb serializers states thorium tops utils wrapper"
)


def _nothing(name: str, answer: object) -> Function[..., object]:
    def body(ctx: Context, /, *args: object, **kwargs: object) -> object:  # noqa: ARG001
        return list(answer) if isinstance(answer, list) else answer

    body.__doc__ = "Nothing to do: a run reads everything anew."
    return Function(body, name)


refresh_beacons = _nothing("refresh_beacons", True)
refresh_grains = _nothing("refresh_grains", True)
refresh_matchers = _nothing("refresh_matchers", True)
refresh_modules = _nothing("refresh_modules", True)
refresh_pillar = _nothing("refresh_pillar", True)
pillar_refresh = _nothing("pillar_refresh", True)
clear_cache = _nothing("clear_cache", True)
clear_job_cache = _nothing("clear_job_cache", True)
regen_keys = _nothing("regen_keys", False)
running = _nothing("running", [])
is_running = _nothing("is_running", [])
find_job = _nothing("find_job", {})
sync_beacons = _nothing("sync_beacons", [])
sync_engines = _nothing("sync_engines", [])
sync_executors = _nothing("sync_executors", [])
sync_grains = _nothing("sync_grains", [])
sync_matchers = _nothing("sync_matchers", [])
sync_modules = _nothing("sync_modules", [])
sync_output = _nothing("sync_output", [])
sync_pillar = _nothing("sync_pillar", [])
sync_proxymodules = _nothing("sync_proxymodules", [])
sync_renderers = _nothing("sync_renderers", [])
sync_returners = _nothing("sync_returners", [])
sync_sdb = _nothing("sync_sdb", [])
sync_serializers = _nothing("sync_serializers", [])
sync_states = _nothing("sync_states", [])
sync_tops = _nothing("sync_tops", [])
sync_utils = _nothing("sync_utils", [])


@function
def sync_all(ctx: Context, /, *args: object, **kwargs: object) -> dict[str, list[str]]:  # noqa: ARG001
    """Nothing to do: a run reads everything anew."""
    return {kind: [] for kind in KINDS.split()}
