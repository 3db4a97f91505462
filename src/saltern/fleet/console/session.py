"""The cookie of a session: only for this host, not readable by scripts, and new at every sign-in."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from saltern.fleet.access.secrets import split_secret
from saltern.fleet.store.credentials import SESSION

NAME = "saltern"
FORM = "saltern-form"  # of a visitor who has not signed in: their forms are bound to it
LOGIN = "saltern-login"  # the verifier of a sign-in at a provider
FORM_LIFE = 3600


def is_secure(request: Request) -> bool:
    """True under TLS, including that of a trusted proxy."""
    return request.url.scheme == "https"


def cookie_name(request: Request, name: str = NAME) -> str:
    """The name of a cookie; under TLS with ``__Host-``, so that no other host or plain connection can
    set it.
    """
    return f"__Host-{name}" if is_secure(request) else name


def secret_of(request: Request) -> str:
    """The secret of the session; empty if there is none, or if it is not that of a session."""
    given = request.cookies.get(cookie_name(request), "")
    parts = split_secret(given)
    return given if parts is not None and parts[0] == SESSION else ""


def read_cookie(request: Request, name: str) -> str:
    return request.cookies.get(cookie_name(request, name), "")


def set_cookie(response: Response, request: Request, name: str, value: str, life: float | None) -> None:
    """Set a cookie. ``life`` in seconds; None: until the browser is closed."""
    response.set_cookie(
        cookie_name(request, name),
        value,
        max_age=None if life is None else max(0, int(life)),
        path="/" if is_secure(request) else (request.scope.get("root_path") or "/"),
        secure=is_secure(request),
        httponly=True,
        samesite="lax",  # with strict, a link from a mail would lead to the sign-in page
    )


def clear_cookie(response: Response, request: Request, name: str) -> None:
    set_cookie(response, request, name, "", 0)
