"""Requests in pieces, and requests without an end: what the server keeps of them is bounded."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.fleet.api.kit import Running
from tests.fleet.api.test_whole_job import until

from saltern.fleet.api.server import MOST_UNREAD, MOST_WAITING

HEAD = b"GET /v1/health HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@contextmanager
def connected(api: Running) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as made:
        made.settimeout(30)
        made.connect(api.socket)
        yield made


def read_all(connection: socket.socket) -> bytes:
    found = b""
    try:
        while part := connection.recv(65536):
            found += part
    except ConnectionResetError:  # it had not read everything
        pass
    return found


ENDLESS = {
    "a header": (HEAD + b"X-Long: ", b"x" * 8192),
    "headers": (HEAD, b"X-Short: y\r\n" * 512),
    "a path": (b"GET /v1/", b"x" * 8192),
    "a trailer": (POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Long: ", b"x" * 8192),
    "a part's extension": (POST + b"Transfer-Encoding: chunked\r\n\r\n2;", b"x" * 8192),
}


@pytest.mark.parametrize("what", ENDLESS)
def test_what_has_no_end_is_refused_early(api: Running, what: str) -> None:
    begin, more = ENDLESS[what]
    sent = 0
    with connected(api) as connection:
        connection.sendall(begin)
        try:
            while sent < 100 * MOST_UNREAD:
                connection.sendall(more)
                sent += len(more)
        except (BrokenPipeError, ConnectionResetError):
            pass
        answer = read_all(connection)
    assert sent < 20 * MOST_UNREAD  # the rest of it was on its way
    assert not answer or b" 400 " in answer.splitlines()[0]


def test_a_long_head_that_ends_is_served(api: Running) -> None:
    with connected(api) as connection:
        long = b"x" * (MOST_UNREAD - 1000)
        connection.sendall(HEAD + b"X-Long: " + long + b"\r\nConnection: close\r\n\r\n")
        assert read_all(connection).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_a_request_in_pieces_is_one_request(api: Running, size: int) -> None:
    body = b'{"uses": 1, "why": "' + b"x" * 100 + b'"}'
    whole = POST + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    with connected(api) as connection:
        for first in range(0, len(whole), size):
            connection.sendall(whole[first : first + size])
            if size == 1 and first % 16 == 0:
                time.sleep(0.001)
        answer = read_all(connection)
    assert b'"code":"api-bad-body"' in answer  # the whole body was read: it has a field that is not known


def test_a_long_body_in_parts_is_no_long_head(api: Running) -> None:
    with connected(api) as connection:
        connection.sendall(POST + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(40):
            connection.sendall(b"2000\r\n" + b" " * 0x2000 + b"\r\n")
        connection.sendall(b'b\r\n{"uses": 1}\r\n0\r\n\r\n')
        assert read_all(connection).startswith(b"HTTP/1.1 201")


def test_a_body_in_many_small_parts_is_no_long_head(api: Running) -> None:
    """What is around the parts is longer than a head may be."""
    with connected(api) as connection:
        connection.sendall(POST + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(20):
            connection.sendall(b"1\r\n \r\n" * 1000)
            time.sleep(0.001)
        connection.sendall(b'b\r\n{"uses": 1}\r\n0\r\n\r\n')
        assert read_all(connection).startswith(b"HTTP/1.1 201")


def test_requests_one_after_the_other_on_one_connection(api: Running) -> None:
    """Each has a head of its own: together they may be longer."""
    long = HEAD + b"X-Long: " + b"x" * (MOST_UNREAD // 2) + b"\r\n"
    with connected(api) as connection:
        connection.sendall(long + b"\r\n" + long + b"\r\n" + long + b"Connection: close\r\n\r\n")
        assert read_all(connection).count(b"HTTP/1.1 200") == 3


def test_few_requests_wait_for_the_answers_to_earlier_ones(api: Running) -> None:
    """Each that waits takes a hundred times the memory of its bytes."""
    with connected(api) as connection:
        connection.sendall((HEAD + b"\r\n") * (3 * MOST_WAITING))
        answer = read_all(connection)
    assert b"HTTP/1.1 400" in answer and answer.count(b"HTTP/1.1 200") <= MOST_WAITING


def test_a_few_that_wait_are_answered(api: Running) -> None:
    with connected(api) as connection:
        connection.sendall((HEAD + b"\r\n") * 20 + HEAD + b"Connection: close\r\n\r\n")
        assert read_all(connection).count(b"HTTP/1.1 200") == 21


def test_a_stream_ends_with_its_connection_although_another_request_waits_for_it(
    api: Running, caplog: pytest.LogCaptureFixture
) -> None:
    hub = api.bench.fleet.hub
    with connected(api) as connection:
        stream = b"GET /v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n"
        connection.sendall(stream + HEAD + b"\r\n")
        until(lambda: hub.following == 1)
    until(lambda: hub.following == 0)
    assert not caplog.records
