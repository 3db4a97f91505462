"""The files of the pages: style, scripts, icon. They are part of the package; nothing is loaded from other
hosts.
"""

from __future__ import annotations

import os
from functools import cache

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from saltern.fleet.console.render import STATIC, assets

KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
FOREVER = "public, max-age=31536000, immutable"


@cache
def _asset(name: str) -> tuple[bytes, bytes]:
    """A file, and the same compressed."""
    import gzip

    with open(os.path.join(STATIC, name), "rb") as file:
        data = file.read()
    return data, gzip.compress(data, mtime=0)


async def serve_asset(request: Request) -> Response:
    """One file. Its address has its digest, so that a browser may keep it for ever."""
    name = str(request.path_params["file"])
    if name not in assets():
        raise HTTPException(404)
    known = request.query_params.get("v") == assets()[name]
    headers = {"Cache-Control": FOREVER if known else "no-cache", "Vary": "Accept-Encoding"}
    plain, packed = _asset(name)
    kind = KINDS.get(os.path.splitext(name)[1], "application/octet-stream")
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=kind)
    return Response(plain, headers=headers, media_type=kind)
