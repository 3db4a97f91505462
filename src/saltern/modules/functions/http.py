"""``http``: ask a web server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from saltern.modules.api import function
from saltern.modules.context import Context
from saltern.modules.params import BadArgument, unknown_argument

if TYPE_CHECKING:
    from urllib.request import Request

# Salt's further keywords that change nothing of what is asked and answered here.
UNUSED = frozenset(
    {"backend", "opts", "stream", "hide_fields", "raise_error", "verify_ssl", "ca_bundle", "agent", "node"}
    | {"persist_session", "session_cookie_jar", "cookies", "cookie_jar", "cookie_format", "test", "test_url"}
    | {"handle", "streaming_callback", "header_callback", "formdata", "port", "header_render", "data_render"}
)


@function
def query(
    ctx: Context,  # noqa: ARG001
    /,
    url: str,
    method: str = "GET",
    params: Mapping[str, object] | None = None,
    data: object = None,
    header_dict: Mapping[str, object] | None = None,
    username: str | None = None,
    password: str | None = None,
    decode: bool = False,
    decode_type: str = "auto",
    text: bool | None = None,
    status: bool = False,
    headers: bool = False,
    timeout: float = 30,
    decode_body: bool = True,
    **rest: object,
) -> dict[str, object]:
    """What a web server answers: ``body``, and on request ``status``, ``headers``, ``dict``, ``text``.

    A failure is told under ``error``, not raised.
    """
    from urllib.error import HTTPError
    from urllib.request import urlopen

    for name in rest:
        if name not in UNUSED:
            raise BadArgument(unknown_argument(name, ("method", "params", "data", "header_dict", "decode")))
    request = _request(url, method, params, data, header_dict, (username, password))
    try:
        with urlopen(request, timeout=float(timeout)) as answer:
            code, kept, body = answer.status, dict(answer.headers.items()), answer.read()
    except HTTPError as problem:
        with problem:
            return {"body": None, "status": problem.code, "error": f"HTTP {problem.code}: {problem.reason}"}
    except (OSError, ValueError) as problem:
        return {"body": None, "error": str(problem)}
    result: dict[str, object] = {"body": body.decode("utf-8", "replace") if decode_body else body}
    if status:
        result["status"] = code
    if headers:
        result["headers"] = kept
    if decode:
        result["dict"] = _decoded(str(result["body"]), decode_type, str(kept.get("Content-Type", "")))
    if text:
        result["text"] = result["body"]
    return result


def _request(
    url: str,
    method: str,
    params: Mapping[str, object] | None,
    data: object,
    headers: Mapping[str, object] | None,
    login: tuple[str | None, str | None],
) -> Request:
    from base64 import b64encode
    from urllib.parse import urlencode
    from urllib.request import Request

    if url.partition("://")[0] not in ("http", "https"):
        raise BadArgument(f"http.query needs an address with http:// or https://, not {url!r}")
    if params:
        url = f"{url}{'&' if '?' in url else '?'}{urlencode(params)}"
    body = urlencode(data) if isinstance(data, Mapping) else data
    known = {str(key): str(value) for key, value in (headers or {}).items()}
    if login[0] is not None:
        token = b64encode(f"{login[0]}:{login[1] or ''}".encode()).decode()
        known["Authorization"] = f"Basic {token}"
    return Request(url, None if body is None else str(body).encode(), known, method=method.upper())


def _decoded(body: str, kind: str, content_type: str) -> object:
    from saltern.modules.functions._formats import READERS

    if kind == "auto":
        kind = "yaml" if "yaml" in content_type else "json"
    if kind == "plain":
        return body
    if kind not in READERS:
        raise BadArgument(f"http.query cannot decode {kind!r}; it knows json, yaml and plain")
    return READERS[kind](body)
