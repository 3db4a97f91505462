"""``request``: a call to the outside, which may be repeated with the same key."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from saltern.chains.accept import Order, start
from saltern.chains.drive import resume_leg
from saltern.chains.legs import Legs
from saltern.chains.orders import change
from saltern.config.settings import Settings

Call = tuple[str, str, dict[str, str], str]


class Pool(ThreadingHTTPServer):
    """A load balancer that notes what it is asked, and answers with ``code``."""

    code = 200
    calls: list[Call]


class Handler(BaseHTTPRequestHandler):
    def answer(self) -> None:
        server: Any = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        server.calls.append((self.command, self.path, dict(self.headers), body))
        self.send_response(server.code)
        self.end_headers()

    do_POST = do_PUT = do_DELETE = answer

    def log_message(self, format: str, *args: Any) -> None:
        """It is quiet."""


@pytest.fixture
def pool() -> Iterator[Pool]:
    server = Pool(("127.0.0.1", 0), Handler)
    server.calls = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def chain(pool: Pool, **more: str) -> str:
    url = f"http://127.0.0.1:{pool.server_address[1]}/pool/web1"
    own = "".join(f", {key}: {value}" for key, value in more.items())
    return f"chain: c\nactions:\n  - {{id: drain, request: {{url: '{url}'{own}}}}}\n"


def settings(base: Path) -> Settings:
    return Settings(id="s", state_dir=str(base / "state"), cachedir=str(base / "cache"))


def test_a_call_is_made_with_what_is_given_and_any_good_code_will_do(pool: Pool, tmp_path: Path) -> None:
    pool.code = 202
    text = chain(pool, method="PUT", headers="{X-Who: me}", data="{state: drained}")
    known = start(settings(tmp_path), Order(text=text, file="c", system="s", token="RUN.s"))
    assert known.state.status.value == "succeeded"
    ((method, path, headers, body),) = pool.calls
    assert (method, path, headers["X-Who"]) == ("PUT", "/pool/web1", "me")
    assert (headers["Content-Type"], body) == ("application/json", '{"state":"drained"}')
    assert headers["Idempotency-Key"] == "RUN.s.drain"


def test_a_retry_has_the_same_key(pool: Pool, tmp_path: Path) -> None:
    pool.code = 503
    here = settings(tmp_path)
    known = start(here, Order(text=chain(pool), file="c", system="s"))
    assert known.state.status.value == "failed"
    pool.code = 200
    change(here, known.id, "retry")
    assert resume_leg(here, known.id).state.status.value == "succeeded"
    keys = {headers["Idempotency-Key"] for _, _, headers, _ in pool.calls}
    assert len(pool.calls) == 2 and keys == {f"{Legs(here).ids()[0]}.drain"}


def test_another_code_than_the_one_that_is_asked_for_is_a_failure(pool: Pool, tmp_path: Path) -> None:
    text = chain(pool, status="204")
    known = start(settings(tmp_path), Order(text=text, file="c", system="s"))
    assert known.state.steps["drain"].status.value == "failed"
