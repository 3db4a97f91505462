"""Headers of every answer of the console: nothing from other hosts, nothing inline, no frames."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.types import Message, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class SafeSend:
    """Adds the headers to an answer, unless it has some of its own."""

    def __init__(self, send: Send, headers: Mapping[str, str] = HEADERS) -> None:
        self._send = send
        self.begun = False
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            given = message.get("headers", ())
            names = {bytes(name).lower() for name, _ in given}
            message["headers"] = [*given, *(one for one in self._headers if one[0] not in names)]
        await self._send(message)
