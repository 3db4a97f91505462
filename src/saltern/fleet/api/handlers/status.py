"""The health of the controller, its CA, and the caller's identity."""

from __future__ import annotations

import asyncio

from starlette.responses import Response

from saltern import __version__
from saltern.fleet.access.decide import allowed_actions
from saltern.fleet.api.call import Call
from saltern.fleet.api.problems import ApiError
from saltern.fleet.api.route import NoQuery
from saltern.fleet.api.shapes import CaAnswer, Health, Me, Ready
from saltern.fleet.store.events import newest_event
from saltern.language.diagnostics import Diagnostic, OperationError

CHECK_TIME = 5.0  # seconds


async def health(call: Call[NoQuery, None]) -> Health:  # noqa: ARG001
    """The process answers. For a supervisor or a load balancer."""
    return Health(version=__version__)


async def ready(call: Call[NoQuery, None]) -> Ready:
    """All parts of the controller work; if not, the answer is 503 and says which and why."""
    found = await _problems(call)
    if found:
        wrong = "; ".join(f"{name}: {problem}" for name, problem in found.items())
        what = f"the controller is not ready: {wrong}"
        fix = "see its log, and `saltern controller doctor`"
        raise ApiError(503, Diagnostic(code="api-not-ready", what=what, fix=fix), {"Retry-After": "5"})
    return Ready()


async def _problems(call: Call[NoQuery, None]) -> dict[str, str]:
    try:
        async with asyncio.timeout(CHECK_TIME):
            await call.read(newest_event)
            looked_at = call.desk.fleet.health
            return await looked_at.problems() if looked_at is not None else {}
    except TimeoutError:
        return {"controller": f"its check took longer than {CHECK_TIME:.0f} seconds"}
    except OperationError as problem:
        return {"database": problem.diagnostics[0].what}


async def ca(call: Call[NoQuery, None]) -> CaAnswer:
    """The certificate of the fleet's own CA. Compare its fingerprint before you trust it."""
    if not call.desk.ca:
        what = "the certificate of this controller is not from its own CA"
        fix = "trust the CA that issued it; where it is already trusted, nothing has to be done"
        raise ApiError(404, Diagnostic(code="api-no-ca", what=what, fix=fix))
    return CaAnswer(ca=call.desk.ca)


async def metrics(call: Call[NoQuery, None]) -> Response:
    """Figures for Prometheus."""
    looked_at = call.desk.fleet.health
    data = await looked_at.metrics() if looked_at is not None else b""
    return Response(data, media_type="text/plain; version=0.0.4; charset=utf-8")


async def me(call: Call[NoQuery, None]) -> Me:
    """Your identity as the controller sees it."""
    who = call.who
    policy = await call.ask(call.desk.access.policies.current)
    return Me(
        name=who.name,
        roles=[*who.roles],
        via=who.via,
        may=allowed_actions(policy, who),
        groups=[*who.groups],
    )
