"""``alias`` on a copy of an aliases file, named by the option ``aliases.file``."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.modules.bench import Bench, ScriptedHost

from saltern.modules.functions import aliases as aliases_functions
from saltern.modules.states import alias

TEXT = "# mine\nroot: ops  # us\npostmaster:root\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "aliases"
    file.write_text(TEXT)
    return file


@pytest.fixture
def bench(tmp_path: Path, file: Path) -> Bench:
    return Bench(
        tmp_path,
        alias,
        functions={"aliases": aliases_functions},
        host=ScriptedHost({}),
        opts={"aliases.file": str(file)},
    )


def test_an_alias_comes_changes_and_goes(bench: Bench, file: Path) -> None:
    assert bench.change("present", "web", target=["a@x.org", "b"]).changes == {"alias": "web"}
    bench.same("present", "web", target="b, a@x.org")
    done = bench.change("present", "root", target="me")
    assert done.data == {"name": "root", "target": "me", "file": str(file)}
    assert file.read_text() == "# mine\nroot: me # us\npostmaster:root\nweb: a@x.org, b\n"
    bench.change("absent", "root")
    assert file.read_text() == "# mine\npostmaster:root\nweb: a@x.org, b\n"


def test_what_cannot_be_is_refused_in_words(bench: Bench) -> None:
    assert "cannot be the name of an alias" in bench.refusal("present", "a b", target="x")
    assert "must not contain" in bench.refusal("present", "a", target="x\ny: z")
    assert "use alias.absent" in bench.refusal("present", "a", target="")


def test_functions_look_and_set(bench: Bench) -> None:
    salt = bench.salt
    assert salt["aliases.list_aliases"]() == {"root": "ops", "postmaster": "root"}
    assert salt["aliases.set_target"]("a", "b") and salt["aliases.has_target"]("a", ["b"])
    assert salt["aliases.rm_alias"]("a") and salt["aliases.get_target"]("a") == ""
