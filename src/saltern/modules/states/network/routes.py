"""``network.routes``."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.programs import error_text
from saltern.modules.api.refused import Refused
from saltern.modules.lib.networking import checks, links
from saltern.modules.lib.networking.model import Networking, difference, route, store_routes
from saltern.modules.lib.networking.providers import choose_networking


@state
def routes(ctx: Context, name: str, *, routes: object, require_reboot: bool = False) -> Result:
    """Set the routes of an interface.

    They are written to the files that the system reads when the interface comes up, and set at once if it is
    up.

    Args:
        name: the interface.
        routes: a list of mappings, each with ``ipaddr`` and ``netmask`` of the network (or ``default``),
            ``gateway``, and optionally ``metric`` and ``name``; an empty list removes all routes.
        require_reboot: only write them.

    Example:
        ```yaml
        saltern0:
          network.routes:
            - routes:
              - name: the other house
                ipaddr: 10.2.0.0
                netmask: 255.255.255.0
                gateway: 192.168.77.1
        ```
    """
    checks.interface(name)
    if not isinstance(routes, list):
        raise Refused("routes needs a list of mappings with ipaddr, netmask and gateway")
    net = choose_networking(ctx)
    wanted = net.wanted_routes(name, [route(one) for one in routes])

    def read_files() -> dict[str, str]:
        return {path: ctx.host.read(path) or "" for path in wanted}

    def differs() -> Changes:
        now = read_files()
        if now == wanted:
            return {}
        if not any(now.values()):
            return {"network_routes": f"Added interface {name} routes."}
        return {"network_routes": difference(_lines(now), _lines(wanted))}

    def act(_: Changes) -> None:
        at_once = not require_reboot and links.is_up(ctx, name)
        if at_once:
            _run(ctx, net, name, up=False)
        store_routes(ctx, wanted)
        if at_once:
            _run(ctx, net, name, up=True)

    return bring(
        ctx,
        differs,
        act,
        facts=lambda: {"name": name, "routes": _lines(read_files()), "up": links.is_up(ctx, name)},
        words=Words(
            f"Interface {name} routes are up to date",
            f"Interface {name} routes would be changed",
            f"Interface {name} routes were changed",
        ),
    )


def _lines(texts: dict[str, str]) -> list[str]:
    return [line for text in texts.values() for line in text.splitlines()]


def _run(ctx: Context, net: Networking, name: str, *, up: bool) -> None:
    """Run the script of the interface going up or down; a failure to remove routes is ignored."""
    path = net.route_files(name)[0 if up else 1]
    script = ctx.host.read(path) or ""
    if not script.startswith("#!"):  # files that are read, not run: bring the interface up again
        if up:
            net.up(name)
        return
    ran = ctx.host.run([path], env={"IFACE": name, "LC_ALL": "C"})
    if up and ran.code:
        raise Refused(f"the routes are written, but could not be set now: {error_text(ran)}")
