"""What a user asks to be applied or shown, and the environment that it is asked for."""

from __future__ import annotations

from msgspec import Struct

from saltern.config.settings import Settings
from saltern.language.diagnostics import Diagnostic, OperationError


class Request(Struct, frozen=True, kw_only=True):
    """What a user asks to be applied or shown. No SLS and no template is the highstate."""

    sls: tuple[str, ...] = ()
    saltenv: str | None = None
    exclude: tuple[object, ...] = ()
    template: str | None = None
    text: str | None = None  # of a file that is nowhere; ``template`` is its name
    id: str | None = None


def environment_of(request: Request, settings: Settings) -> str | None:
    """The one environment asked for, if any; ``lock_saltenv`` forbids another than the configured one."""
    usual = settings.saltenv
    if settings.lock_saltenv and request.saltenv not in (None, usual):
        raise OperationError(
            Diagnostic(
                code="saltenv-locked",
                what=f"the saltenv {request.saltenv!r} is not allowed here: lock_saltenv is set",
                fix=f"leave --saltenv out; the configured one is {usual or 'base'!r}",
            )
        )
    return request.saltenv or usual
