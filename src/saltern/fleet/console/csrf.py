"""Whether a form was sent from a page of ours, by the person whom it was shown to.

Two things must be right: where the browser says that the request comes from, and a token in the form that is
made from the secret of the session, which no other site can read.
"""

from __future__ import annotations

import hmac
from secrets import token_hex
from urllib.parse import urlsplit

from starlette.requests import Request

from saltern.fleet.api.problems import ApiError
from saltern.language.diagnostics import Diagnostic

FIELD = "csrf"
HEADER = "x-csrf-token"
OWN = ("same-origin", "none")


def token_for(secret: str, salt: str = "") -> str:
    """A token for the forms of one session. Each is another one: a page that is compressed must not let its
    length reveal what it has in common with what an attacker puts into it.
    """
    if not secret:
        return ""
    salt = salt or token_hex(16)
    return f"{salt}.{hmac.digest(secret.encode(), f'saltern console form {salt}'.encode(), 'sha256').hex()}"


def check_form(request: Request, secret: str, given: str) -> None:
    """Raise unless the request comes from a page of this session."""
    if not is_own_origin(request):
        raise _refused("the request comes from another site")
    salt = given.partition(".")[0]
    wanted = token_for(secret, salt) if salt else ""
    if not wanted or not hmac.compare_digest(wanted.encode(), given.encode("utf-8", "replace")):
        raise _refused("the form does not belong to this session")


def is_own_origin(request: Request) -> bool:
    """What the browser says, which no page can forge; where it says nothing, the token decides alone."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in OWN
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host", "")


def _refused(what: str) -> ApiError:
    fix = "open the page again, and send the form from there"
    return ApiError(403, Diagnostic(code="console-form", what=what, fix=fix))
