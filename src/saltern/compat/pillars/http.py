"""``http_json`` and ``http_yaml``: pillar of the machine from a server."""

from __future__ import annotations

import base64
import ssl
import urllib.request
from collections.abc import Callable
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote

from saltern.compat.pillars.commands import MOST, read_json, read_yaml
from saltern.compat.pillars.ports import Asked, SourceError, look_up, words_of
from saltern.language import secrets
from saltern.language.mask import mask
from saltern.system.web_answer import NoAnswer, answer


def http_json(asked: Asked, given: object) -> object:
    """An address that responds with JSON; ``%s`` in it is the name of the machine."""
    return _fetch(asked, given, read_json)


def http_yaml(asked: Asked, given: object) -> object:
    """The same with YAML."""
    return _fetch(asked, given, read_yaml)


def _fetch(asked: Asked, given: object, read: Callable[[str], object]) -> object:
    words = words_of(given)
    url = str(words.get("url") or words.get("0") or "")
    if not url.startswith(("http://", "https://")):
        raise SourceError("it needs a url that begins with http:// or https://")
    url = url.replace("%s", quote(asked.id))
    for grain in words.get("with_grains") or ():
        value = look_up(asked.grains, str(grain))
        if value is None:
            raise SourceError(f"the machine has no grain {grain!r}")
        url = url.replace(f"<{grain}>", quote(str(value), safe=""))
    request = urllib.request.Request(url, headers=_headers(words))
    context = ssl._create_unverified_context() if words.get("verify_ssl") is False else None
    try:
        return read(answer(request, context, most=MOST).decode())
    except HTTPError as problem:
        problem.close()
        raise SourceError(f"{mask(url)} responded with {problem.code}") from None
    except NoAnswer as problem:
        raise SourceError(f"{mask(url)}: {problem}") from None
    except UnicodeDecodeError:
        raise SourceError(f"{mask(url)} did not respond with UTF-8 text") from None


def _headers(words: dict[str, Any]) -> dict[str, str]:
    given = words.get("header_dict") or words.get("headers") or {}
    headers = {str(name): str(value) for name, value in given.items()}
    if words.get("username"):
        secrets.add(words.get("password"))
        pair = f"{words['username']}:{words.get('password') or ''}"
        headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    return headers
