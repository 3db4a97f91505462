"""``http``: query web servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument, unknown_argument

if TYPE_CHECKING:
    from ssl import SSLContext
    from urllib.request import Request

# Further keywords of Salt that have no effect here.
UNUSED = frozenset(
    {"backend", "opts", "stream", "hide_fields", "node", "port"}
    | {"streaming_callback", "header_callback", "handle"}
)


@function
def query(
    ctx: Context,
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
    header_list: list[str] | None = None,
    data_file: str | None = None,
    verify_ssl: bool = True,
    ca_bundle: str | None = None,
    cert: object = None,
    agent: str | None = None,
    auth: list[str] | None = None,
    header_file: str | None = None,
    data_render: bool = False,
    data_renderer: str | None = None,
    header_render: bool = False,
    header_renderer: str | None = None,
    template_dict: Mapping[str, object] | None = None,
    text_out: str | None = None,
    headers_out: str | None = None,
    decode_out: str | None = None,
    raise_error: bool = True,
    formdata: bool = False,
    formdata_fieldname: str | None = None,
    formdata_filename: str | None = None,
    cookies: bool = False,
    cookie_jar: str | None = None,
    cookie_format: str = "lwp",
    persist_session: bool = False,
    session_cookie_jar: str | None = None,
    test: bool = False,
    test_url: str | None = None,
    **rest: object,
) -> dict[str, object]:
    """The response of a web server: ``body``, and on request ``status``, ``headers``, ``dict``, ``text``.

    A failure is returned under ``error``, not raised. ``cert`` is a file with certificate and key, or a
    list of the two; ``verify_ssl: False`` accepts any server.

    Args:
        header_file, data_file: files with headers (``Name: value`` lines) or the data to send;
            ``header_render`` and ``data_render`` render them first, with ``template_dict``.
        text_out, headers_out, decode_out: files to write the body, the headers as JSON and the decoded body
            as JSON to.
        raise_error: False treats a response with an error code like any other.
        auth: user and password as a list of two.
        formdata: send ``data`` as a file of a form, in the field ``formdata_fieldname`` and with the name
            ``formdata_filename``.
        cookies: send the cookies of the file ``cookie_jar`` and store new ones there, in the
            ``cookie_format`` ``lwp`` or ``mozilla``; without a file, in a file of the cache.
        persist_session: the same with the file ``session_cookie_jar``.
        test, test_url: if ``test`` is True, query ``test_url`` instead; nothing if it is not given.

    Example:
        ```console
        $ saltern call http.query http://localhost:8000/health status=true
        local:
            ----------
            body:
                all is fine
            status:
                200
        ```
    """
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import urlopen

    from saltern.modules.lib import web_cookies, web_form

    for name in rest:
        if name not in UNUSED:
            raise BadArgument(unknown_argument(name, ("method", "params", "data", "header_dict", "decode")))
    if test:
        if test_url is None:
            return {}
        url = test_url
    renderers = ((header_render, header_renderer), (data_render, data_renderer))
    from_file, body_given = (
        _render(ctx, _file(path), how, template_dict) if path else None
        for path, how in zip((header_file, data_file), renderers, strict=True)
    )
    lines = from_file.splitlines() if from_file else []
    known = {**_read_headers(lines), **_read_headers(header_list), **(header_dict or {})}
    known |= {"User-Agent": agent} if agent else {}
    if auth:
        username, password = (str(one) for one in auth)
    sent: object = data if body_given is None else body_given
    if formdata:
        known["Content-Type"], sent = web_form.encode_form(sent, formdata_fieldname, formdata_filename)
    request = _request(url, method, params, sent, known, (username, password))
    jars = web_cookies.jars(ctx, (cookies, cookie_jar, cookie_format), (persist_session, session_cookie_jar))
    for jar in jars:
        jar.add_cookie_header(request)
    trust = _trust(url, verify_ssl, ca_bundle, cert)
    try:
        with urlopen(request, timeout=float(timeout), context=trust) as answer:
            code, kept, body = answer.status, dict(answer.headers.items()), answer.read()
            web_cookies.keep(jars, answer, request)
    except HTTPError as problem:
        with problem:
            code, kept, body = problem.code, dict(problem.headers.items()), problem.read()
        if raise_error:
            said = body.decode("utf-8", "replace")
            why = f"HTTP {problem.code}: {problem.reason}"
            return {"body": said, "status": code, "error": why, **({"text": said} if text else {})}
    except (OSError, ValueError, HTTPException) as problem:
        return {"body": None, "error": str(problem) or type(problem).__name__}
    result: dict[str, object] = {"test": True} if test else {}
    result["body"] = body.decode("utf-8", "replace") if decode_body else body
    if status:
        result["status"] = code
    if headers:
        result["headers"] = kept
    if decode:
        result["dict"] = _decode_body(str(result["body"]), decode_type, str(kept.get("Content-Type", "")))
    if text:
        result["text"] = result["body"]
    _keep(text_out, body)
    _keep(headers_out, _json(kept) if headers_out else b"")
    _keep(decode_out, _json(result.get("dict")) if decode_out else b"")
    return result


def _render(
    ctx: Context, text: str, how: tuple[bool, str | None], values: Mapping[str, object] | None
) -> str:
    render, engine = how
    if not render:
        return text
    return ctx.templates.text(text, engine=engine or "jinja", env=ctx.env, values=dict(values or {}))


def _json(value: object) -> bytes:
    import json

    return json.dumps(value).encode()


def _keep(path: str | None, data: bytes) -> None:
    """Write a response to a file that only its owner can read: it may contain secrets."""
    if path:
        from saltern.modules.functions.file.errors import absolute
        from saltern.system import files

        files.write(absolute(path), data, files.Attributes(mode=0o600))


def _read_headers(headers: list[str] | None) -> dict[str, str]:
    """``["Name: value"]`` as a mapping."""
    pairs = (line.partition(":") for line in headers or [])
    return {name.strip(): value.strip() for name, _, value in pairs}


def _file(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeError) as problem:
        raise BadArgument(f"cannot read {path}: {problem}") from None


def _trust(url: str, verify: bool, bundle: str | None, cert: object) -> SSLContext | None:
    """The TLS context for a request; the default one for a plain request."""
    if not url.startswith("https:") or (verify and not bundle and not cert):
        return None
    import ssl

    try:
        trust = ssl.create_default_context(cafile=bundle)
        if not verify:
            trust.check_hostname = False
            trust.verify_mode = ssl.CERT_NONE
        if cert:
            trust.load_cert_chain(*(map(str, cert) if isinstance(cert, list | tuple) else [str(cert)]))
    except OSError as problem:  # ssl.SSLError is one
        raise BadArgument(f"cannot use ca_bundle or cert: {problem.strerror or problem}") from None
    return trust


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
        raise BadArgument(f"http.query needs a URL with http:// or https://, not {url!r}")
    if params:
        url = f"{url}{'&' if '?' in url else '?'}{urlencode(params)}"
    body = urlencode(data) if isinstance(data, Mapping) else data
    known = {str(key): str(value) for key, value in (headers or {}).items()}
    if login[0] is not None:
        token = b64encode(f"{login[0]}:{login[1] or ''}".encode()).decode()
        known["Authorization"] = f"Basic {token}"
    sent = body if body is None or isinstance(body, bytes) else str(body).encode()
    return Request(url, sent, known, method=method.upper())


def _decode_body(body: str, kind: str, content_type: str) -> object:
    from saltern.modules.lib.data_formats import READERS

    if kind == "auto":
        kind = "yaml" if "yaml" in content_type else "json"
    if kind == "plain":
        return body
    if kind not in READERS:
        raise BadArgument(f"http.query cannot decode {kind!r}; use json, yaml or plain")
    return READERS[kind](body)
