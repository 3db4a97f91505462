"""``debconf`` with the real programs, and a database in a directory of the test (``DEBCONF_SYSTEMRC``)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.modules.bench import Bench, ScriptedHost

from saltern.language.result import Outcome
from saltern.modules.functions import debconf as functions
from saltern.modules.states import debconf
from saltern.system.process import Ran

CONFIG = """Config: configdb
Templates: templatedb

Name: config
Driver: File
Reject-Type: password
Filename: {place}/config.dat

Name: passwords
Driver: File
Mode: 600
Accept-Type: password
Filename: {place}/passwords.dat

Name: configdb
Driver: Stack
Stack: config, passwords

Name: templatedb
Driver: File
Filename: {place}/templates.dat
"""
DATA = {
    "saltern-t/name": {"type": "string", "value": "a b  c"},
    "saltern-t/really": {"type": "boolean", "value": True},
    "saltern-t/some": {"type": "multiselect", "value": ["x", "y"]},
}


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    if shutil.which("debconf-set-selections") is None:
        pytest.skip("needs debconf-set-selections")
    (tmp_path / "debconf.conf").write_text(CONFIG.format(place=tmp_path))
    monkeypatch.setenv("DEBCONF_SYSTEMRC", str(tmp_path / "debconf.conf"))
    return Bench(tmp_path, debconf, functions={"debconf": functions})


def test_answers_are_set_once(bench: Bench) -> None:
    done = bench.change("set", "saltern-t", data=DATA)
    assert done.changes == {
        "saltern-t/name": "New value: a b  c",
        "saltern-t/really": "New value: true",
        "saltern-t/some": "New value: x, y",
    }
    changed = {**DATA, "saltern-t/name": [{"type": "string"}, {"value": "d"}]}
    assert bench.change("set", "saltern-t", data=changed).changes == {"saltern-t/name": "New value: d"}


def test_a_password_is_never_shown(bench: Bench) -> None:
    secret = {"saltern-t/pass": {"type": "password", "value": "geheim"}}
    done = bench.change("set", "saltern-t", data=secret)
    assert done.changes == {"saltern-t/pass": "New value: (password hidden)"}
    assert "geheim" not in repr(done)
    assert bench.salt["debconf.show"]("saltern-t") == [["saltern-t/pass", "(password hidden)"]]


def test_a_program_that_fails_does_not_give_the_password_away(tmp_path: Path) -> None:
    """A program that repeats its input; from a table."""
    host = ScriptedHost({"debconf-set-selections": Ran(1, err="parse error: x y password geheim")})
    bench = Bench(tmp_path, debconf, host=host)
    data = {"x/y": {"type": "password", "value": "geheim"}}
    done = bench.call("set", "x", data=data)
    assert done.outcome is Outcome.FAILED
    assert "geheim" not in repr(done) and "geheim" not in repr(host.asked)


def test_answers_come_from_a_file(bench: Bench) -> None:
    (bench.tree / "answers").write_text(
        "# mine\nsaltern-t saltern-t/a string {word}\n\nsaltern-t saltern-t/b note\n"
    )
    done = bench.change("set_file", "x", source="salt://answers", template="any", context={"word": "hey"})
    assert done.changes == {"saltern-t/a": "New value: hey", "saltern-t/b": "New value: "}


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a b", {"q": {"type": "string", "value": "x"}}, "not the name of a package"),
        ("a", {"q": {"type": "strin", "value": "x"}}, "is not a type of debconf"),
        ("a", {"q": {"value": "x"}}, "needs a type and a value"),
        ("a", {"q": "x"}, "needs a type and a value"),
        ("a", {"q": {"type": "string", "value": "x\ny"}}, "one line"),
    ],
)
def test_bad_input_is_refused(bench: Bench, name: str, data: dict[str, object], words: str) -> None:
    assert words in bench.refusal("set", name, data=data)


def test_a_bad_file_is_refused(bench: Bench) -> None:
    (bench.tree / "bad").write_text("one two\n")
    assert "line 1 is not" in bench.refusal("set_file", "x", source="salt://bad")
    assert "was not found" in bench.refusal("set_file", "x", source="salt://nowhere")


def test_functions_read_and_set(bench: Bench) -> None:
    assert bench.salt["debconf.set"]("saltern-t", "saltern-t/q", "string", "v") is True
    assert bench.salt["debconf.show"]("saltern-t") == [["saltern-t/q", "v"]]
    assert bench.salt["debconf.show"]("nobody") is None
    (bench.tree / "f").write_text("saltern-t saltern-t/r boolean true\n")
    assert bench.salt["debconf.set_file"]("salt://f") is True
    assert bench.salt["debconf.get_selections"]() == {
        "saltern-t": [["saltern-t/q", "v"], ["saltern-t/r", "true"]]
    }
