"""The log: -v, --log-level and -l."""

from __future__ import annotations

import pytest
from tests.e2e.command import Place


@pytest.mark.parametrize(
    ("words", "lines", "absent"),
    [
        ((), [], ["INFO", "DEBUG"]),
        (("-v",), ["INFO", "test.nop a: ok"], ["DEBUG"]),
        (("--log-level", "info"), ["INFO", "the run begins: 2 states"], ["DEBUG"]),
        (("-l", "debug"), ["DEBUG", "render ", "test.nop a begins"], []),
        (("--log-level", "error"), [], ["INFO"]),
    ],
)
def test_the_log_has_what_its_level_asks_for(
    place: Place, words: tuple[str, ...], lines: list[str], absent: list[str]
) -> None:
    place.write({"main.sls": "a: test.nop\nb: test.nop\n"})
    done = place.run("apply", "main", *words)
    assert done.code == 0
    for line in lines:
        assert line in done.err
    for line in absent:
        assert line not in done.err
    assert "INFO" not in done.out


def test_the_name_of_a_secret_state_is_not_logged(place: Place) -> None:
    place.write({"main.sls": "echo hunter2:\n  cmd.run:\n    - no_log: true\n"})
    done = place.run("apply", "main", "-l", "trace")
    assert "cmd.run (no_log, order 10000): ok" in done.err
    assert "hunter2" not in done.err


def test_an_unknown_level_is_refused(place: Place) -> None:
    place.write({"main.sls": "a: test.nop\n"})
    done = place.run("apply", "main", "--log-level", "loud")
    assert done.code == 1
    assert "invalid choice: 'loud'" in done.err
