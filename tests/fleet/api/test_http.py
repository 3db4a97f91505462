"""The client's HTTP: whole answers, endless ones, and what is cut short or no HTTP at all."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.client.follow import read_events
from saltern.fleet.client.http import MOST_HEAD, HttpAnswer, HttpLink, HttpProblem, NoHttp
from saltern.fleet.client.session import check_finite, part, query_text

OK = b"HTTP/1.1 200 OK\r\n"


def answered(data: bytes, use: Callable[[HttpLink], object], piece: int = 0) -> tuple[object, bytes]:
    """What comes of an answer of these bytes, sent in pieces; and the request that it answers."""
    ours, theirs = socket.socketpair()
    asked: list[bytes] = []

    def serve() -> None:
        with theirs:
            asked.append(theirs.recv(65536))
            for first in range(0, len(data), piece or len(data) or 1):
                theirs.sendall(data[first : first + (piece or len(data))])

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        return use(HttpLink(ours, "c:4510")), asked[0] if asked else b""
    finally:
        ours.close()
        thread.join()


def get(link: HttpLink) -> HttpAnswer:
    return link.ask("GET", "/v1/x", {"Accept": "a/b"}, None)


@given(st.integers(1, 40), st.lists(st.binary(min_size=1, max_size=50), max_size=4))
def test_an_answer_is_the_same_however_it_arrives(piece: int, parts: list[bytes]) -> None:
    chunks = b"".join(b"%x;more=1\r\n%b\r\n" % (len(one), one) for one in parts)
    data = OK + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\nAfter: x\r\n\r\n"
    body, _ = answered(data, lambda link: get(link).read(), piece)
    assert body == b"".join(parts)


def test_the_request_is_as_it_should_be() -> None:
    headers = {"Client-Token": "t"}
    data = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"
    answer, asked = answered(data, lambda link: link.ask("POST", "/v1/x?a=b", headers, b"{}"))
    assert asked.splitlines()[:2] == [b"POST /v1/x?a=b HTTP/1.1", b"Host: c:4510"]
    assert b"Client-Token: t\r\n" in asked and asked.endswith(b"Content-Length: 2\r\n\r\n{}")
    assert isinstance(answer, HttpAnswer)
    assert (answer.status, answer.is_last, answer.read()) == (204, False, b"")


@pytest.mark.parametrize(
    ("head", "is_last"),
    [
        (OK + b"Content-Length: 2\r\n", False),
        (OK + b"Content-Length: 2\r\nConnection: close\r\n", True),
        (OK, True),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n", True),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: Keep-Alive\r\n", False),
    ],
)
def test_the_end_of_a_body_and_of_the_connection(head: bytes, is_last: bool) -> None:
    def use(link: HttpLink) -> tuple[bytes, bool]:
        answer = get(link)
        return answer.read(), answer.is_last

    assert answered(head + b"\r\n" + b"ok", use)[0] == (b"ok", is_last)


def test_a_body_without_a_length_may_come_after_its_head() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(OK + b"\r\n")
        answer = get(HttpLink(ours, "c:4510"))
        theirs.sendall("später".encode())
        theirs.shutdown(socket.SHUT_WR)
        assert answer.read().decode() == "später"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", NoHttp),
        (b"220 mail.example.org ESMTP\r\n", NoHttp),
        (b"HTTP/1.1 abc\r\n\r\n", NoHttp),
        (b"HTTP/1.1 200", HttpProblem),
        (OK + b"Content-Length: 5\r\n\r\nok", HttpProblem),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", HttpProblem),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nok", HttpProblem),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nokokok", HttpProblem),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n0x2\r\nok\r\n0\r\n\r\n", HttpProblem),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 5000 + b"\r\nok", HttpProblem),
        (OK + b"Content-Length: 2, 2\r\n\r\nok", HttpProblem),
        (OK + b"Content-Length: -2\r\n\r\nok", HttpProblem),
        (OK + b"X: " + b"y" * (MOST_HEAD + 70_000), HttpProblem),
        (OK + (b"X: " + b"y" * 1000 + b"\r\n") * 70 + b"\r\n", HttpProblem),
    ],
)
def test_what_is_cut_short_or_no_http_is_a_problem(data: bytes, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        answered(data, lambda link: get(link).read())


def test_a_line_break_cannot_be_smuggled_into_a_request() -> None:
    with pytest.raises(ValueError, match="line break"):
        answered(b"", lambda link: link.ask("GET", "/v1/x\r\nX: y", {}, None))


def test_texts_are_parts_of_addresses() -> None:
    assert part("a b/ä~_-.") == "a%20b%2F%C3%A4~_-."
    assert query_text({"a": "x&y", "b": None, "c": True, "d": 0, "e": ""}) == "?a=x%26y&c=true"


def test_a_number_that_is_not_finite_is_not_sent() -> None:
    check_finite({"a": [1.5, {"b": None}]})
    with pytest.raises(ValueError, match="finite"):
        check_finite({"a": [1.5, {"b": float("nan")}]})


@given(st.integers(1, 30))
def test_events_are_the_same_however_they_arrive(size: int) -> None:
    text = b'retry: 2000\n\n: keep-alive\n\nid: 7\r\nevent: x\r\ndata: {"a": "b c"}\r\n\r\ndata: {"n": 1}\n\n'
    pieces = [text[first : first + size] for first in range(0, len(text), size)]
    assert [*read_events(pieces)] == [("7", {"a": "b c"}), ("", {"n": 1})]
