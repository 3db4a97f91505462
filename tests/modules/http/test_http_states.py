"""``http.query`` and ``http.wait_for_successful_query``: against a server of our own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from saltern.language.result import Outcome
from saltern.modules.api.context import Context
from saltern.modules.states.http import query, wait_for_successful_query

Make = Callable[..., Context]


class Answers(BaseHTTPRequestHandler):
    seen: list[str] = []

    def do_GET(self) -> None:
        self.seen.append(self.path)
        late = self.path == "/late" and self.seen.count("/late") < 3
        self.send_response(503 if late or self.path == "/down" else 200)
        self.end_headers()
        self.wfile.write(b"state: fine\n")

    def do_POST(self) -> None:
        self.seen.append(f"POST {self.path}")
        self.send_response(201)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    Answers.seen = []
    with HTTPServer(("127.0.0.1", 0), Answers) as serving:
        thread = threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()
        thread.join()


def test_answers_are_judged_by_text_and_code(ctx: Context, testing: Context, server: str) -> None:
    for context in (ctx, testing):
        result = query(context, f"{server}/x", match="state: f", status=200)
        assert (result.outcome, result.changes) == (Outcome.OK, {})
        assert (result.data["status"], result.data["size"]) == ("200", 12)
    assert query(ctx, server, match=r"^state: \w+$", match_type="pcre").outcome is Outcome.OK
    assert query(ctx, server, status=[200, 204], status_type="list").outcome is Outcome.OK
    assert query(ctx, server, status="2..", status_type="pcre").outcome is Outcome.OK
    wrong = query(ctx, f"{server}/down", match="nope", status=200)
    assert wrong.outcome is Outcome.FAILED
    assert wrong.comment == "Match text 'nope' was not found. Status was 503, not 200"


def test_questions_that_change_something_are_not_asked_in_test_mode(
    ctx: Context, testing: Context, server: str
) -> None:
    assert query(testing, f"{server}/p", method="POST", data="x", status=201).outcome is Outcome.WOULD_CHANGE
    assert Answers.seen == []
    asked = query(testing, f"{server}/p", method="POST", status=201, test_url=f"{server}/t")
    assert (asked.data["status"], Answers.seen) == ("201", ["POST /t"])
    assert query(ctx, f"{server}/p", method="POST", data="x", status=201).outcome is Outcome.OK


def test_it_waits_until_the_answer_is_right(ctx: Context, server: str) -> None:
    result = wait_for_successful_query(ctx, f"{server}/late", status=200, request_interval=2)
    assert result.outcome is Outcome.OK
    assert Answers.seen == ["/late"] * 3
    assert getattr(ctx.clock, "slept") == [2, 2]  # noqa: B009
    result = wait_for_successful_query(ctx, f"{server}/down", status=200, wait_for=3)
    assert result.outcome is Outcome.FAILED
    assert "503" in result.comment


def test_bad_input_is_reported_plainly(ctx: Context, server: str) -> None:
    for kwargs, words in (
        ({}, "give 'match' for the text"),
        ({"match": "(", "match_type": "pcre"}, "regular expression"),
        ({"match": "x", "match_type": "glob"}, "match_type"),
        ({"status": 200, "nonsense": 1}, "nonsense"),
    ):
        result = query(ctx, server, **kwargs)
        assert result.outcome is Outcome.FAILED
        assert words in result.comment
    assert "http://" in query(ctx, "ftp://x", status=200).comment
    result = query(ctx, "http://u:geheim@127.0.0.1:1/", status=200, password="hidden")
    assert result.outcome is Outcome.FAILED
    assert "geheim" not in repr(result)
    assert "hidden" not in repr(result)
