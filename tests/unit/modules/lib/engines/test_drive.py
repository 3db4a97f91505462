"""Driving a program: what is heard, what the log has, how it ends."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from tests.modules.bench import Bench

from saltern.language.result import Outcome
from saltern.modules.api.context import Context
from saltern.modules.lib.engines.drive import KEPT, LONGEST, Ended, _Lines, drive, unparsed_step
from saltern.modules.states import exec as module


@pytest.fixture
def ctx(tmp_path: Path) -> Context:
    return Bench(tmp_path, module).context()


def python(ctx: Context, code: str, *, timeout: float | None = None) -> tuple[Ended, list[str], list[str]]:
    out: list[str] = []
    err: list[str] = []
    argv = [sys.executable, "-c", code]
    return drive(ctx, "some", argv, out=out.append, err=err.append, timeout=timeout), out, err


def text(ended: Ended) -> bytes:
    return Path(ended.log).read_bytes()


def test_both_streams_are_heard_in_lines_and_kept_in_a_private_log(ctx: Context) -> None:
    ended, out, err = python(ctx, "import sys; print('a\\r\\nb'); print('c', file=sys.stderr, end='')")
    assert (out, err, ended.code) == (["a", "b"], ["c"], 0)
    assert sorted(text(ended).splitlines()) == [b"a", b"b", b"c"]
    assert stat.S_IMODE(os.stat(ended.log).st_mode) == 0o600


def test_a_marked_line_is_heard_and_not_logged(ctx: Context) -> None:
    code = "import os; os.write(2, b'one\\n\\x1e{1}\\ntwo\\n\\x1e{2}'); os.write(2, b'{3}\\nthree')"
    ended, _, err = python(ctx, code)
    assert err == ["one", "\x1e{1}", "two", "\x1e{2}{3}", "three"]
    assert text(ended) == b"one\ntwo\nthree"
    assert ended.tail == "one\ntwo\nthree"


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_however_the_pieces_fall_the_lines_are_the_same(size: int) -> None:
    data = b"a\n\x1eb\n\n\x1ec\nd\n\x1e\ne\x1ef\n\x1elast"
    heard: list[str] = []
    log = bytearray()
    from collections import deque

    lines = _Lines(heard.append, deque(maxlen=9), log.extend)
    for start in range(0, len(data), size):
        lines.feed(data[start : start + size])
    lines.end()
    assert heard == ["a", "\x1eb", "", "\x1ec", "d", "\x1e", "e\x1ef", "\x1elast"]
    assert bytes(log) == b"a\n\nd\ne\x1ef\n"


def test_bytes_that_are_no_text_are_shown_as_such_and_logged_as_they_are(ctx: Context) -> None:
    ended, out, _ = python(ctx, "import os; os.write(1, b'caf\\xe9\\n')")
    assert out == ["caf\\xe9"]
    assert text(ended) == b"caf\xe9\n"


def test_a_line_beyond_all_bounds_is_cut_for_the_ear_and_whole_in_the_log(ctx: Context) -> None:
    ended, out, _ = python(ctx, f"import sys; sys.stdout.write('x' * {LONGEST + 5} + '\\ny\\n')")
    assert [len(line) for line in out] == [LONGEST, 1]
    assert os.path.getsize(ended.log) == LONGEST + 8
    assert len(ended.tail) < 2000


def test_more_than_fifty_megabytes_are_kept(ctx: Context) -> None:
    count = 0

    def hear(_: str) -> None:
        nonlocal count
        count += 1

    code = "import sys\nfor n in range(600): sys.stdout.write(('x' * 99 + '\\n') * 1000)"
    ended = drive(ctx, "some", [sys.executable, "-c", code], out=hear)
    assert count == 600_000
    assert os.path.getsize(ended.log) == 60_000_000


def test_a_timeout_and_a_signal_are_reported(ctx: Context) -> None:
    ended, out, _ = python(ctx, "import time; print('begun', flush=True); time.sleep(60)", timeout=1)
    assert ended.timed_out
    assert out == ["begun"]
    ended, _, _ = python(ctx, "import os; os.kill(os.getpid(), 9)")
    assert (ended.signal, ended.code) == (9, 137)


def test_a_program_that_is_not_there_is_reported_in_the_tail(ctx: Context) -> None:
    ended = drive(ctx, "some", ["/nonexistent/engine"], out=print)
    assert ended.code == 127
    assert "/nonexistent/engine" in ended.tail


def test_who_raises_while_listening_ends_the_engine(ctx: Context) -> None:
    def hear(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        drive(ctx, "some", [sys.executable, "-c", "print(1, flush=True)\nwhile True: pass"], out=hear)


def test_old_logs_are_removed(ctx: Context) -> None:
    for _ in range(KEPT + 3):
        ended = drive(ctx, "some", ["true"], out=print)
    assert len(os.listdir(os.path.dirname(ended.log))) == KEPT


def test_what_cannot_be_read_is_one_step_with_the_tail(ctx: Context) -> None:
    ended, _, _ = python(ctx, "print('what?'); raise SystemExit(3)")
    step = unparsed_step(ended)
    assert (step.name, step.outcome) == ("unparsed output", Outcome.FAILED)
    assert "what?" in step.comment
    assert step.data["retcode"] == 3
