"""A registry in a hundred lines: what a real engine pushes, it can pull again, if it knows the password.

Run as a program inside the engine's network namespace, where it is the engine's ``localhost``.
"""

from __future__ import annotations

import hashlib
import sys
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
USER, PASSWORD = "saltern", "s3cr3t-of-the-registry"
LOGIN = "Basic " + b64encode(f"{USER}:{PASSWORD}".encode()).decode()

blobs: dict[str, bytes] = {}
manifests: dict[str, bytes] = {}
uploads: dict[str, bytes] = {}


class Registry(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Docker-Distribution-Api-Version", "registry/2.0")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def allowed(self) -> bool:
        if self.headers.get("Authorization") == LOGIN:
            return True
        self.received()
        self.answer(401, b'{"errors": []}', WWW_Authenticate='Basic realm="test"')
        return False

    def received(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def look(self) -> None:
        if not self.allowed():
            return
        path, key = self.path.partition("?")[0], self.path.rpartition("/")[2]
        if path == "/v2/":
            self.answer(200, b"{}")
            return
        kind = "manifests" if "/manifests/" in path else "blobs"
        found = (manifests if kind == "manifests" else blobs).get(key)
        if found is None:
            self.answer(404, b'{"errors": []}')
            return
        digest = "sha256:" + hashlib.sha256(found).hexdigest()
        media = MANIFEST if kind == "manifests" else "application/octet-stream"
        self.answer(200, found, Content_Type=media, Docker_Content_Digest=digest)

    do_GET = do_HEAD = look

    def do_POST(self) -> None:
        if self.allowed():
            self.received()
            key = str(len(uploads))
            uploads[key] = b""
            self.answer(202, Location=f"{self.path.rstrip('/')}/{key}", Docker_Upload_UUID=key, Range="0-0")

    def do_PATCH(self) -> None:
        if self.allowed():
            key = self.path.partition("?")[0].rpartition("/")[2]
            uploads[key] += self.received()
            last = max(len(uploads[key]) - 1, 0)
            self.answer(202, Location=self.path, Docker_Upload_UUID=key, Range=f"0-{last}")

    def do_PUT(self) -> None:
        if not self.allowed():
            return
        path, _, query = self.path.partition("?")
        key, body = path.rpartition("/")[2], self.received()
        if "/manifests/" in path:
            digest = "sha256:" + hashlib.sha256(body).hexdigest()
            manifests[key] = manifests[digest] = body
        else:
            digest = query.partition("digest=")[2].partition("&")[0].replace("%3A", ":")
            blobs[digest] = uploads.pop(key) + body
        self.answer(201, Location=self.path, Docker_Content_Digest=digest)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Registry)
    print("ready", flush=True)
    server.serve_forever()
