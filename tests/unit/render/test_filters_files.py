"""Filters that look at this machine, and at what a server answers."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from jinja2 import TemplateRuntimeError

from saltern.render.filters import resolve


@pytest.mark.parametrize(
    ("content", "text", "empty"),
    [
        (b"hi\n", True, False),
        (b"", True, True),
        ("é".encode(), True, False),
        (b"\0\1\xff", False, False),
        (b"\xff\xfe" * 9, False, False),
    ],
)
def test_a_file_is_reported_from_its_first_bytes(
    tmp_path: Path, content: bytes, text: bool, empty: bool
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert resolve("is_text_file")(str(path)) is text
    assert resolve("is_bin_file")(str(path)) is not text
    assert resolve("is_empty")(str(path)) is empty


def test_a_character_cut_in_half_is_still_text(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x" * 511 + "é", encoding="utf-8")
    assert resolve("is_text_file")(str(path)) is True


@pytest.mark.parametrize("name", ["is_text_file", "is_bin_file", "is_empty"])
def test_what_is_not_there_is_nothing(tmp_path: Path, name: str) -> None:
    assert resolve(name)(str(tmp_path / "none")) is False


def test_files_are_listed_with_their_directories_in_order(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b").touch()
    (tmp_path / "a").touch()
    root = str(tmp_path)
    assert resolve("list_files")(root) == [root, f"{root}/a", f"{root}/sub", f"{root}/sub/b"]


def test_a_file_has_the_hash_of_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100_000)
    assert resolve("file_hashsum")(str(path)) == hashlib.sha256(b"x" * 100_000).hexdigest()
    assert resolve("file_hashsum")(str(path), "md5") == hashlib.md5(b"x" * 100_000).hexdigest()
    with pytest.raises(TemplateRuntimeError, match="there is no hash 'bad'"):
        resolve("file_hashsum")(str(path), "bad")
    with pytest.raises(TemplateRuntimeError, match="No such file"):
        resolve("file_hashsum")(str(tmp_path / "none"))


def test_a_program_is_found_where_it_is() -> None:
    assert os.access(resolve("which")("sh"), os.X_OK)
    assert resolve("which")("no-such-program-here") is None
    assert resolve("which")("") is None


def test_a_user_has_a_number() -> None:
    assert resolve("get_uid")("root") == 0
    assert resolve("get_uid")("no-such-user-here") is None
    assert resolve("get_uid")(None) == os.geteuid()


class Echo(BaseHTTPRequestHandler):
    """Answers with what it was asked."""

    def do_GET(self) -> None:
        self.send_response(404 if "missing" in self.path else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Asked-As", self.headers.get("Authorization", "nobody"))
        self.end_headers()
        self.wfile.write(f'{{"path": "{self.path}"}}'.encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"posted " + body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Echo) as running:
        thread = Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("path", "arguments", "answer"),
    [
        ("/x", {}, {"body": '{"path": "/x"}'}),
        ("/x", {"params": {"q": "1 2"}, "status": True}, {"body": '{"path": "/x?q=1+2"}', "status": 200}),
        ("/x", {"decode": True}, {"body": '{"path": "/x"}', "dict": {"path": "/x"}}),
        (
            "/7",
            {"decode": True, "decode_type": "plain"},
            {"body": '{"path": "/7"}', "dict": '{"path": "/7"}'},
        ),
        ("/x", {"text": True}, {"body": '{"path": "/x"}', "text": '{"path": "/x"}'}),
        ("/x", {"method": "POST", "data": {"q": "1"}}, {"body": "posted q=1"}),
        ("/x", {"method": "post", "data": "raw"}, {"body": "posted raw"}),
        ("/missing", {}, {"status": 404, "error": "HTTP 404: Not Found", "body": '{"path": "/missing"}'}),
        ("/missing", {"raise_error": False, "status": True}, {"status": 404, "body": '{"path": "/missing"}'}),
    ],
)
def test_a_query_answers_as_in_salt(
    server: str, path: str, arguments: dict[str, Any], answer: dict[str, Any]
) -> None:
    assert resolve("http_query")(server + path, **arguments) == answer


@pytest.mark.parametrize(
    ("arguments", "asked_as"),
    [
        ({"username": "u", "password": "p"}, "Basic dTpw"),
        ({"header_dict": {"Authorization": "key"}}, "key"),
        ({"header_list": ["Authorization: key"]}, "key"),
    ],
)
def test_a_query_can_say_who_asks(server: str, arguments: dict[str, Any], asked_as: str) -> None:
    assert resolve("http_query")(server, headers=True, **arguments)["headers"]["X-Asked-As"] == asked_as


def test_a_server_that_is_not_there_is_reported_in_the_answer() -> None:
    assert "refused" in resolve("http_query")("http://127.0.0.1:1/")["error"]


def test_only_the_web_can_be_queried() -> None:
    with pytest.raises(TemplateRuntimeError, match="must start with http"):
        resolve("http_query")("file:///etc/passwd")
