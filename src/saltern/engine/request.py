"""A user's request to apply or show states, and its environment."""

from __future__ import annotations

from msgspec import Struct

from saltern.config.settings import Settings
from saltern.language.diagnostics import Diagnostic, OperationError


class Request(Struct, frozen=True, kw_only=True):
    """A request to apply or show states. Without SLS and template, the highstate."""

    sls: tuple[str, ...] = ()
    saltenv: str | None = None
    exclude: tuple[object, ...] = ()
    template: str | None = None
    text: str | None = None  # the text of a file that is not on disk, named ``template``
    id: str | None = None


def environment_of(request: Request, settings: Settings) -> str | None:
    """The requested environment, or None; ``lock_saltenv`` allows only the configured one."""
    usual = settings.saltenv
    if settings.lock_saltenv and request.saltenv not in (None, usual):
        raise OperationError(
            Diagnostic(
                code="saltenv-locked",
                what=f"the saltenv {request.saltenv!r} is not allowed here: lock_saltenv is set",
                fix=f"leave out --saltenv; the configured saltenv is {usual or 'base'!r}",
            )
        )
    return request.saltenv or usual
