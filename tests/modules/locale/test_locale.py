"""``locale``, with ``locale`` and ``locale-gen`` played by a fake host, on copies of their files."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.modules.bench import Bench, ScriptedHost, needs_root

from saltern.modules.functions import locale as locale_functions
from saltern.modules.lib.tables import locales
from saltern.modules.states import locale
from saltern.system.process import Ran

LOCALE_GEN = "# a list\n# de_DE.UTF-8 UTF-8\nen_US.UTF-8 UTF-8\n"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    for name in ("DEBIAN", "SYSTEMD", "LOCALE_GEN", "SUPPORTED"):
        monkeypatch.setattr(locales, name, str(tmp_path / name.lower()))
    monkeypatch.setattr(locales, "has", lambda program: program == "locale-gen")
    (tmp_path / "debian").write_text("# mine\nLANG=C\nLC_TIME=C\n")
    (tmp_path / "locale_gen").write_text(LOCALE_GEN)
    (tmp_path / "supported").write_text("de_DE.UTF-8 UTF-8\nde_DE@euro ISO-8859-15\nen_US.UTF-8 UTF-8\n")

    def generate(_: list[str]) -> Ran:
        lines = (tmp_path / "locale_gen").read_text().splitlines()
        made.extend(line.split()[0].replace("UTF-8", "utf8") for line in lines if not line.startswith("#"))
        return Ran(0)

    made = ["C", "POSIX", "en_US.utf8"]
    host = ScriptedHost({"locale -a": lambda _: Ran(0, "\n".join(made)), "locale-gen": generate})
    return Bench(tmp_path, locale, functions={"locale": locale_functions}, host=host)


def test_the_locale_of_the_machine_is_set(bench: Bench, tmp_path: Path) -> None:
    done = bench.change("system", "de_DE.UTF-8")
    assert (done.changes, done.data) == ({"locale": "de_DE.UTF-8"}, {"locale": "de_DE.UTF-8"})
    assert (tmp_path / "debian").read_text() == "# mine\nLANG=de_DE.UTF-8\nLC_TIME=C\n"


def test_a_locale_is_made_once(bench: Bench, tmp_path: Path) -> None:
    bench.same("present", "en_US.UTF-8")
    assert bench.change("present", "de_DE.UTF-8").changes == {"locale": "de_DE.UTF-8"}
    assert (tmp_path / "locale_gen").read_text() == LOCALE_GEN.replace("# de_DE", "de_DE")
    bench.change("present", "de_DE@euro ISO-8859-15")


def test_what_cannot_be_is_refused_in_words(bench: Bench) -> None:
    assert "is not a locale that this machine can generate" in bench.refusal("present", "xx_XX.UTF-8")
    assert "cannot be the name of a locale" in bench.refusal("system", "de; rm")
    assert "cannot be the name of a locale" in bench.refusal("present", "--help")


def test_functions_look_and_make(bench: Bench) -> None:
    salt = bench.salt
    assert salt["locale.get_locale"]() == "C" and salt["locale.avail"]("en_US.utf8") is True
    assert salt["locale.gen_locale"]("de_DE.UTF-8") is True
    assert salt["locale.set_locale"]("de_DE.UTF-8") and salt["locale.get_locale"]() == "de_DE.UTF-8"


@needs_root("locale")
def test_the_real_list_has_c(tmp_path: Path) -> None:
    Bench(tmp_path, locale).same("present", "C.UTF-8")
