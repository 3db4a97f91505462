"""The filter ``http_query``: the response of a URL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssl import SSLContext
    from urllib.request import Request

MOST_BYTES = 100_000_000


def http_query(
    url: str,
    method: str = "GET",
    params: Mapping[str, object] | None = None,
    data: object = None,
    *,
    data_file: str | None = None,
    header_dict: Mapping[str, str] | None = None,
    header_list: Iterable[str] | None = None,
    username: str | None = None,
    password: str | None = None,
    decode: bool = False,
    decode_type: str = "auto",
    status: bool = False,
    headers: bool = False,
    text: bool = False,
    verify_ssl: bool | None = None,
    ca_bundle: str | None = None,
    raise_error: bool = True,
    agent: str = "saltern",
    timeout: float = 60,
    test: bool = False,
    test_url: str | None = None,
    backend: object = None,  # noqa: ARG001 - Salt's libraries
    hide_fields: object = None,  # noqa: ARG001 - nothing of a query is logged
) -> dict[str, object]:
    """A mapping with the ``body``; on request also ``status``, ``headers``, ``text``, and ``dict``, decoded.

    Errors are returned under ``error``; the template continues. With ``test``, ``test_url`` is queried
    instead, or no URL if it is not given.
    """
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import urlopen

    if test:
        if test_url is None:
            return {}
        url = test_url
    sent = {"User-Agent": agent, **dict(header_dict or {}), **_from_list(header_list or ())}
    if username is not None:
        sent["Authorization"] = _basic(username, password or "")
    request = _request(url, method, params, _body(data, data_file), sent)
    try:
        answer = urlopen(request, timeout=timeout, context=_tls(url, verify_ssl, ca_bundle))
    except HTTPError as problem:
        if raise_error:
            with problem:
                body = _read(problem)
            return {"status": problem.code, "error": f"HTTP {problem.code}: {problem.reason}", "body": body}
        answer = problem
    except (URLError, OSError, ValueError, HTTPException) as problem:
        return {"error": str(getattr(problem, "reason", problem))}
    with answer:
        body = _read(answer)
        made: dict[str, object] = {"body": body}
        if status:
            made["status"] = answer.status
        if headers:
            made["headers"] = dict(answer.headers.items())
        kind = answer.headers.get_content_type()
    if decode:
        made["dict"] = _decode_body(body, decode_type, kind)
    if text:
        made["text"] = body
    return made


def _request(
    url: str, method: str, params: Mapping[str, object] | None, body: bytes | None, sent: dict[str, str]
) -> Request:
    from urllib.parse import urlencode, urlsplit
    from urllib.request import Request

    if urlsplit(url).scheme not in ("http", "https"):
        raise ValueError(f"the URL must start with http:// or https://, not {url!r}")
    if params:
        url += ("&" if "?" in url else "?") + urlencode(params)
    return Request(url, data=body, headers=sent, method=method.upper())


def _from_list(lines: Iterable[str]) -> dict[str, str]:
    pairs = (line.partition(":") for line in lines)
    return {name.strip(): value.strip() for name, _, value in pairs}


def _basic(username: str, password: str) -> str:
    import base64

    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode("ascii")


def _body(data: Any, data_file: str | None) -> bytes | None:
    from urllib.parse import urlencode

    if data_file is not None:
        with open(data_file, "rb") as file:
            return file.read()
    if isinstance(data, Mapping):
        data = urlencode(data)
    return data.encode() if isinstance(data, str) else data


def _tls(url: str, verify: bool | None, bundle: str | None) -> SSLContext | None:
    if not url.startswith("https:") or (verify in (None, True) and not bundle):
        return None
    import ssl

    context = ssl.create_default_context(cafile=bundle)
    if verify is False:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _read(answer: Any) -> str:
    content: bytes = answer.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OverflowError(f"the answer is larger than {MOST_BYTES} bytes")
    return content.decode(answer.headers.get_content_charset("utf-8"), "replace")


def _decode_body(body: str, wanted: str, kind: str) -> object:
    """The body as data: in the requested format, that of its content type, or JSON."""
    from saltern.render.filters.serialize import load_json, load_yaml

    if wanted not in ("auto", "json", "yaml", "plain"):
        raise ValueError(f"decode_type must be json, yaml, plain or auto, not {wanted!r}")
    if wanted == "auto":
        wanted = "yaml" if "yaml" in kind else "json"
    readers: dict[str, Callable[[str], object]] = {"json": load_json, "yaml": load_yaml, "plain": str}
    return readers[wanted](body)
