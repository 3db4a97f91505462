"""Checks that a form was sent from a page of the console, by the person it was shown to.

Two things must be right: the origin that the browser reports, and a token in the form that is made from the
secret of the session, which no other site can read.
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
    """A token for the forms of one session. Each token is different, so that the length of a compressed page
    cannot reveal what it has in common with an attacker's text.
    """
    if not secret:
        return ""
    salt = salt or token_hex(16)
    return f"{salt}.{hmac.digest(secret.encode(), f'saltern console form {salt}'.encode(), 'sha256').hex()}"


def check_form(request: Request, secret: str, given: str) -> None:
    """Raise unless the request comes from a page of this session."""
    if not is_own_origin(request):
        raise _refusal("the request comes from another site")
    salt = given.partition(".")[0]
    wanted = token_for(secret, salt) if salt else ""
    if not wanted or not hmac.compare_digest(wanted.encode(), given.encode("utf-8", "replace")):
        raise _refusal("the form does not belong to this session")


def is_own_origin(request: Request) -> bool:
    """True if the browser reports this site as origin, which no page can forge, or reports none: then the
    token decides.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in OWN
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host", "")


def _refusal(what: str) -> ApiError:
    fix = "open the page again, and send the form from there"
    return ApiError(403, Diagnostic(code="console-form", what=what, fix=fix))
