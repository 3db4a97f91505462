"""Whether the controller is well, how it can be trusted, and who asks."""

from __future__ import annotations

import asyncio

from starlette.responses import Response

from saltern import __version__
from saltern.fleet.api.call import Call, Check
from saltern.fleet.api.problems import ApiError
from saltern.fleet.api.route import NoQuery
from saltern.fleet.api.shapes import CaAnswer, Health, Me, Ready
from saltern.fleet.store.events import newest_event
from saltern.language.diagnostics import Diagnostic, SalternError

CHECK_TIME = 5.0  # seconds


async def health(call: Call[NoQuery, None]) -> Health:  # noqa: ARG001
    return Health(version=__version__)


async def ready(call: Call[NoQuery, None]) -> Ready:
    """Look at the database and at all that the controller names."""

    async def database() -> str:
        await call.read(newest_event)
        return ""

    checks = {"database": database, **call.desk.checks}
    found = dict(zip(checks, await asyncio.gather(*map(_checked, checks.values())), strict=True))
    wrong = [f"{name}: {problem}" for name, problem in found.items() if problem]
    if wrong:
        what = f"the controller is not ready: {'; '.join(wrong)}"
        fix = "see its log, and `saltern controller doctor`"
        raise ApiError(503, Diagnostic(code="api-not-ready", what=what, fix=fix), {"Retry-After": "5"})
    return Ready(checks=found)


async def _checked(check: Check) -> str:
    try:
        return await asyncio.wait_for(check(), CHECK_TIME)
    except TimeoutError:
        return f"no answer in {CHECK_TIME:.0f} seconds"
    except SalternError as problem:
        return problem.diagnostics[0].what


async def ca(call: Call[NoQuery, None]) -> CaAnswer:
    if not call.desk.ca:
        what = "the certificate of this controller is not from a CA of its own"
        fix = "trust the CA that it is from; where it is known, nothing has to be done"
        raise ApiError(404, Diagnostic(code="api-no-ca", what=what, fix=fix))
    return CaAnswer(ca=call.desk.ca)


async def metrics(call: Call[NoQuery, None]) -> Response:
    if call.desk.metrics is None:
        what, fix = "this controller has no metrics", "upgrade it"
        raise ApiError(404, Diagnostic(code="api-no-metrics", what=what, fix=fix))
    return Response(await call.desk.metrics(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def me(call: Call[NoQuery, None]) -> Me:
    return Me(name=call.who.name, roles=[*call.who.roles], via=call.who.via)
