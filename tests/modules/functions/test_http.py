"""``http.query`` and fetching from the web, against a server of our own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from saltern.modules.api.params import BadArgument
from saltern.render.filters import resolve

Call = Callable[..., object]


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/missing":
            self.send_error(404)
            return
        if self.path == "/cookie":
            self._answer(f'{{"cookie": "{self.headers.get("Cookie", "")}"}}', ("Set-Cookie", "a=1"))
            return
        self._answer(f'{{"path": "{self.path}", "auth": "{self.headers.get("Authorization", "")}"}}')

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def _answer(self, text: str, *headers: tuple[str, str]) -> None:
        self.send_response(200)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Answers) as serving:
        thread = threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()
        thread.join()


def test_an_answer_has_what_was_asked_for(salt: Call, server: str) -> None:
    assert salt("http.query", f"{server}/x") == {"body": '{"path": "/x", "auth": ""}'}
    answer = salt(
        "http.query",
        f"{server}/x",
        params={"a": 1},
        username="u",
        status=True,
        headers=True,
        decode=True,
        text=True,
    )
    assert isinstance(answer, dict)
    assert answer["status"] == 200
    assert answer["dict"] == {"path": "/x?a=1", "auth": "Basic dTo="}
    assert answer["headers"]["Content-Type"] == "application/json"


def test_data_is_sent(salt: Call, server: str) -> None:
    assert salt("http.query", server, "POST", data={"a": "b c"}) == {"body": "a=b+c"}


def test_a_failure_is_an_answer(salt: Call, server: str) -> None:
    answer = salt("http.query", f"{server}/missing")
    assert isinstance(answer, dict)
    assert "404" in answer["body"] and answer["status"] == 404
    refused = salt("http.query", "http://127.0.0.1:1/")
    assert isinstance(refused, dict) and "error" in refused


def test_unknown_arguments_are_reported(salt: Call) -> None:
    with pytest.raises(BadArgument, match="'methd'; did you mean 'method'"):
        salt("http.query", "http://x", methd="GET")


def test_a_file_of_the_web_is_kept(salt: Call, server: str, tmp_path: Path) -> None:
    kept = str(salt("cp.cache_file", f"{server}/a/b?c=1"))
    assert kept.startswith(str(tmp_path / "cache")) and Path(kept).is_file()
    assert salt("cp.is_cached", f"{server}/a/b?c=1") == kept
    assert '"/x"' in str(salt("cp.get_url", f"{server}/x", None))
    assert salt("cp.get_url", f"{server}/x", str(tmp_path / "out")) == str(tmp_path / "out")
    with pytest.raises(BadArgument, match="cannot fetch"):
        salt("cp.cache_file", f"{server}/missing")


def test_files_are_sent_rendered_and_answers_kept(salt: Call, server: str, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("{{ word }}!")
    (tmp_path / "headers").write_text("Authorization: Token {{ word }}\n")
    template: dict[str, object] = {"template_dict": {"word": "hello"}}
    sent = salt(
        "http.query", server, method="POST", data_file=str(tmp_path / "data"), data_render=True, **template
    )
    assert sent == {"body": "hello!"}
    salt(
        "http.query",
        server,
        header_file=str(tmp_path / "headers"),
        header_render=True,
        decode=True,
        text_out=str(tmp_path / "text"),
        headers_out=str(tmp_path / "head"),
        decode_out=str(tmp_path / "decoded"),
        **template,
    )
    assert "Token hello" in (tmp_path / "text").read_text()
    assert "application/json" in (tmp_path / "head").read_text()
    assert "Token hello" in (tmp_path / "decoded").read_text()
    assert (tmp_path / "text").stat().st_mode & 0o777 == 0o600


def test_a_user_and_an_error_that_is_none(salt: Call, server: str) -> None:
    answer: Any = salt("http.query", server, auth=["me", "geheim"])
    assert "Basic bWU6Z2VoZWlt" in answer["body"]
    missing: Any = salt("http.query", f"{server}/missing", raise_error=False, status=True)
    assert missing["status"] == 404 and "error" not in missing


def test_data_is_sent_as_a_file_of_a_form(salt: Call, server: str) -> None:
    answer: Any = salt(
        "http.query",
        server,
        method="POST",
        data="some\ntext",
        formdata=True,
        formdata_fieldname='the "field"',
        formdata_filename="notes.txt",
    )
    lines = answer["body"].split("\r\n")
    assert lines[1] == 'Content-Disposition: form-data; name="the %22field%22"; filename="notes.txt"'
    assert lines[4] == "some\ntext"
    assert lines[-2] == f"{lines[0]}--"


def test_a_form_needs_the_name_of_its_field(salt: Call) -> None:
    with pytest.raises(BadArgument, match="formdata needs formdata_fieldname"):
        salt("http.query", "http://127.0.0.1:9/", method="POST", data="x", formdata=True)


@pytest.mark.parametrize(
    ("asked", "file"),
    [
        ({"cookies": True}, "cookies.txt"),
        ({"cookies": True, "cookie_format": "mozilla"}, "cookies.txt"),
        ({"persist_session": True}, "cookies.session.p"),
    ],
)
def test_cookies_are_kept_for_the_next_question(
    salt: Call, server: str, tmp_path: Path, asked: dict[str, object], file: str
) -> None:
    first: Any = salt("http.query", f"{server}/cookie", decode=True, **asked)
    second: Any = salt("http.query", f"{server}/cookie", decode=True, **asked)
    without: Any = salt("http.query", f"{server}/cookie", decode=True)
    assert (first["dict"]["cookie"], second["dict"]["cookie"], without["dict"]["cookie"]) == ("", "a=1", "")
    assert (tmp_path / "cache" / file).stat().st_mode & 0o777 == 0o600


def test_cookies_are_kept_where_the_caller_wants_them(salt: Call, server: str, tmp_path: Path) -> None:
    jar = tmp_path / "jar"
    salt("http.query", f"{server}/cookie", cookies=True, cookie_jar=str(jar))
    assert jar.read_text().startswith("#LWP-Cookies")
    jar.write_text("no cookies\n")
    with pytest.raises(BadArgument, match="cannot read the cookies in"):
        salt("http.query", f"{server}/cookie", cookies=True, cookie_jar=str(jar))


def test_a_test_asks_another_url_or_none(salt: Call, server: str) -> None:
    assert salt("http.query", "http://127.0.0.1:9/", test=True) == {}
    answer: Any = salt("http.query", "http://127.0.0.1:9/", test=True, test_url=server)
    assert answer["test"] is True and "error" not in answer
    query = resolve("http_query")
    assert query("http://127.0.0.1:9/", test=True) == {}
    assert "error" not in query("http://127.0.0.1:9/", test=True, test_url=server, backend="tornado")
