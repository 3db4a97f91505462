"""An answer has a limit in size, is HTTP, and leads nowhere unsafe; a password stays with its server."""

from __future__ import annotations

from urllib.error import HTTPError
from urllib.request import Request

import pytest
from tests.unit.system.answering import answering

from saltern.system.web_answer import NoAnswer, answer

OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"SSH-2.0-x\r\n", "not HTTP, or is incomplete"),
        (b"", "not HTTP, or is incomplete"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "not HTTP, or is incomplete"),
        (OK + b"\r\n" + b"x" * 2000, "larger than 0 MiB"),
        (b"HTTP/1.1 302 x\r\nLocation: ftp://127.0.0.1/\r\n\r\n", "with ftp://, which is not followed"),
    ],
)
def test_what_is_no_answer(said: bytes, why: str) -> None:
    with answering(said) as port, pytest.raises(NoAnswer, match=why):
        answer(Request(f"http://127.0.0.1:{port}/"), most=1000)


def test_an_answer_a_refusal_and_no_server() -> None:
    with answering(OK + b"\r\nall of it") as port:
        assert answer(Request(f"http://127.0.0.1:{port}/")) == b"all of it"
    with pytest.raises(NoAnswer, match="cannot be reached"):
        answer(Request(f"http://127.0.0.1:{port}/"))
    with answering(b"HTTP/1.1 403 no\r\n\r\n") as port, pytest.raises(HTTPError) as refused:
        answer(Request(f"http://127.0.0.1:{port}/"))
    refused.value.close()


def test_a_password_stays_with_its_server() -> None:
    heard: list[bytes] = []
    with answering(OK + b"\r\nhere", heard) as second:
        there = f"HTTP/1.1 302 x\r\nLocation: http://127.0.0.1:{second}/x\r\n\r\n".encode()
        with answering(there, heard) as first:
            request = Request(f"http://127.0.0.1:{first}/", headers={"Authorization": "Basic s3cr3tly"})
            assert answer(request) == b"here"
    assert [b"s3cr3tly" in one for one in heard] == [True, False]
