"""Who gets notifications in tests: a web server and a mail server of their own, on loopback."""

from __future__ import annotations

import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class WebReceiver:
    """Keeps every request; answers with what ``answers`` has left, then with 204."""

    def __init__(self, port: int, scheme: str = "http") -> None:
        self.address = f"{scheme}://127.0.0.1:{port}/hook?x=1"
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.answers: list[int] = []


@contextmanager
def web_receiver(certificate: tuple[str, str] | None = None) -> Iterator[WebReceiver]:
    """``certificate``: files of a certificate and its key; then it talks TLS alone."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            names = {name.lower(): value for name, value in self.headers.items()}
            receiver.requests.append((self.path, names, body))
            status = receiver.answers.pop(0) if receiver.answers else 204
            self.send_response(status)
            if status in (301, 307):
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_words: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver = WebReceiver(server.server_address[1], "https" if certificate else "http")
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()


class MailReceiver:
    """Keeps every mail: who it is for, and its text. ``refuses``: answers to RCPT TO, one each."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.mails: list[tuple[list[str], str]] = []
        self.refuses: list[str] = []


@contextmanager
def mail_receiver() -> Iterator[MailReceiver]:
    """As much of SMTP as a client needs that trusts its own machine."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.say("220 here")
            to: list[str] = []
            while line := self.rfile.readline().decode().strip():
                verb = line[:4].upper()
                if verb == "DATA":
                    self.say("354 go on")
                    receiver.mails.append((to, self.text()))
                    self.say("250 kept")
                elif verb == "RCPT" and receiver.refuses:
                    self.say(receiver.refuses.pop(0))
                elif verb == "QUIT":
                    return self.say("221 bye")
                else:
                    to = [*to, line.partition("<")[2].rstrip(">")] if verb == "RCPT" else to
                    self.say("250 ok")
            return None

        def say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

        def text(self) -> str:
            lines = []
            while (line := self.rfile.readline().decode().rstrip("\r\n")) != ".":
                lines.append(line)
            return "\n".join(lines)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        receiver = MailReceiver(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()
