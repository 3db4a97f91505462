"""Cookies that ``http.query`` stores in files for the next request."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from saltern.config.settings import cache_directory
from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument

if TYPE_CHECKING:
    from http.client import HTTPResponse
    from http.cookiejar import FileCookieJar
    from urllib.request import Request

FILE, SESSION_FILE = "cookies.txt", "cookies.session.p"
FORMATS = ("lwp", "mozilla")


def jars(
    ctx: Context, cookies: tuple[bool, str | None, str], session: tuple[bool, str | None]
) -> list[FileCookieJar]:
    """The requested files: of cookies (wanted, path, format) and of sessions (wanted, path)."""
    cache = str(ctx.opts.get("cachedir") or cache_directory(ctx.settings))
    found = [_read(cookies[1] or os.path.join(cache, FILE), cookies[2])] if cookies[0] else []
    if session[0]:
        found.append(_read(session[1] or os.path.join(cache, SESSION_FILE), "lwp"))
    return found


def _read(path: str, form: str) -> FileCookieJar:
    from http.cookiejar import LWPCookieJar, MozillaCookieJar

    if form not in FORMATS:
        raise BadArgument(f"no cookie_format is called {form!r}; use one of {', '.join(FORMATS)}")
    jar = (MozillaCookieJar if form == "mozilla" else LWPCookieJar)(path)
    try:
        jar.load(ignore_discard=True)  # cookies without a date end with the session, which the user ends
    except FileNotFoundError:
        pass
    except (OSError, UnicodeError) as problem:  # LoadError is an OSError
        raise BadArgument(f"cannot read the cookies in {path}: {problem}") from None
    return jar


def keep(jars: Iterable[FileCookieJar], answer: HTTPResponse, request: Request) -> None:
    """Store the cookies, readable only by their owner: a cookie is like a password."""
    for jar in jars:
        jar.extract_cookies(answer, request)
        path = str(jar.filename)
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        jar.save(ignore_discard=True)
