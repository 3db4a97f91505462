"""Real git repositories, and servers of them on loopback."""

from __future__ import annotations

import http.server
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

WHO = (
    "-c",
    "user.name=a",
    "-c",
    "user.email=a@b.c",
    "-c",
    "init.defaultBranch=main",
    "-c",
    "commit.gpgsign=false",
)


class Repository:
    """A work tree in which tests commit."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        self.git("init", "-q")

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ("git", *WHO, *words), cwd=self.path, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(
        self, files: Mapping[str, str], *, branch: str = "", tag: str = "", force: bool = False
    ) -> str:
        """The commit with these files in it; it is the new head of the branch."""
        if branch:
            self.git("checkout", "-q", "-B", branch)
        for name, text in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x", *(("--amend",) if force else ()))
        if tag:
            self.git("tag", "-f", "-a", "-m", "x", tag)
        return self.git("rev-parse", "HEAD")

    @property
    def url(self) -> str:
        return f"file://{self.path}"


class _Smart(http.server.BaseHTTPRequestHandler):
    """Git's own program behind HTTP, with a password if there is one."""

    root = ""
    password = ""

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _answer(self, body: bytes) -> None:
        import base64

        wanted = "Basic " + base64.b64encode(f"ann:{self.password}".encode()).decode()
        if self.password and self.headers.get("Authorization") != wanted:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        env = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": self.root,
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
        }
        done = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True, check=False)
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode().split("\r\n")]
        status = next((int(value.split()[0]) for name, _, value in lines if name == "Status"), 200)
        self.send_response(status)
        for name, _, value in lines:
            if name and name != "Status":
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(rest)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def http_server(root: Path, password: str = "") -> Iterator[int]:
    """Serves the repositories below a directory; its port."""
    handler = type("Handler", (_Smart,), {"root": str(root), "password": password})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)
