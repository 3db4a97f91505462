"""Sources from web servers: names and passwords, tags, and what is not fetched."""

from __future__ import annotations

import base64
import hashlib
import http.server
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from saltern.language.result import Outcome
from saltern.modules.functions.cp import get, query
from saltern.modules.states.file.cached import cached, not_cached
from saltern.modules.states.file.managed import managed

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk


class Server(http.server.ThreadingHTTPServer):
    """Gives its ``content`` to whom the ``login`` belongs, and remembers what was asked."""

    content = b"from the web\n"
    login = ""
    asked: list[int]

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}/dir/file.txt"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        tag = f'"{hashlib.sha256(self.server.content).hexdigest()}"'
        code = 200
        if self.headers.get("If-None-Match") == tag:
            code = 304
        if self.server.login:
            wanted = base64.b64encode(self.server.login.encode()).decode()
            code = code if self.headers.get("Authorization") == f"Basic {wanted}" else 401
        self.server.asked.append(code)
        self.send_response(code)
        self.send_header("ETag", tag)
        self.end_headers()
        if code == 200:
            self.wfile.write(self.server.content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server(("127.0.0.1", 0), Handler)
    made.asked = []
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


@pytest.mark.parametrize(
    ("login", "written"),
    [("joe:secret", "joe:secret"), ("joe:p@ss", "joe:p@ss"), ("joe:p@ss/w:x", "joe:p%40ss%2Fw%3Ax")],
)
def test_name_and_password_are_used_and_not_shown(
    desk: Desk, server: Server, login: str, written: str
) -> None:
    server.login = login
    url = f"http://{written}@{server.host}/file.txt"
    result = desk.change(managed, desk.at("f"), source=url, skip_verify=True)
    assert desk.text("f") == "from the web\n"
    wrong = desk.call(managed, desk.at("g"), source=url.replace("joe", "jim"), skip_verify=True)
    assert wrong.outcome is Outcome.FAILED
    assert "401" in wrong.comment
    kept = desk.call(cached, url, skip_verify=True)
    again = desk.call(cached, url, source_hash="0" * 64)
    gone = desk.call(not_cached, url)
    for shown in (result, wrong, kept, again, gone):
        assert login.partition(":")[2] not in repr(shown)
        assert written.partition(":")[2] not in repr(shown)


def test_a_source_is_not_fetched_if_the_file_has_its_digest(desk: Desk, server: Server) -> None:
    desk.put("f", "from the web\n")
    digest = hashlib.sha256(server.content).hexdigest()
    desk.same(managed, desk.at("f"), source=server.url, source_hash=digest)
    assert server.asked == []
    desk.put("f", "changed\n")
    desk.change(managed, desk.at("f"), source=server.url, source_hash=digest)
    assert server.asked == [200, 200]  # in test mode nothing is kept


def test_a_tag_saves_the_download(desk: Desk, server: Server) -> None:
    args = {"source": server.url, "use_etag": True}
    desk.call(managed, desk.at("f"), **args)
    kept = query.is_cached(desk.context(), server.url)
    assert kept == str(desk.cache / f"extrn_files/base/127.0.0.1{server.server_port}/dir/file.txt")
    assert os.path.exists(f"{kept}.etag")
    before = os.stat(kept).st_mtime_ns
    desk.same(managed, desk.at("f"), **args)
    assert server.asked == [200, 304, 304]
    assert os.stat(kept).st_mtime_ns == before
    server.content = b"new\n"
    desk.call(managed, desk.at("f"), **args)
    assert server.asked[-1] == 200
    assert desk.text("f") == "new\n"
    assert get.get_file_str(desk.context(), server.url) == "new\n"


def test_what_is_not_as_demanded_is_not_kept(desk: Desk, server: Server) -> None:
    desk.refusal(managed, desk.at("f"), source=server.url, source_hash="0" * 64)
    assert query.is_cached(desk.context(), server.url) == ""


def test_two_addresses_do_not_get_into_each_others_way(desk: Desk, server: Server) -> None:
    for path in ("a", "a/b", "a/b/c", "a?x=../../../y", "a/../../../b"):
        url = f"http://{server.host}/{path}"
        assert desk.call(managed, desk.at("f"), source=url, skip_verify=True).outcome is Outcome.OK
        assert query.is_cached(desk.context(), url).startswith(f"{desk.cache}/extrn_files/base/")


def test_a_file_is_not_rendered_over_itself(desk: Desk) -> None:
    path = desk.put("f", "{{ 1 + 1 }}\n")
    for source in (path, f"file://{path}"):
        comment = desk.refusal(managed, path, source=source, template="jinja")
        assert "same as destination" in comment
    assert desk.text("f") == "{{ 1 + 1 }}\n"
    desk.same(managed, path, source=path)
