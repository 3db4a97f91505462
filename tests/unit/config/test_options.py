from __future__ import annotations

import subprocess
import sys

import msgspec

from saltern.config.options import OPTIONS
from saltern.config.settings import Settings
from saltern.config.shapes import SHAPES

COMPUTED = {"id"}
BESIDES = {"extra", "files"}


def test_settings_and_options_are_the_same_set() -> None:
    fields = {field.name for field in msgspec.structs.fields(Settings)}
    assert fields - BESIDES == set(OPTIONS)


def test_settings_have_the_defaults_of_the_table() -> None:
    settings = Settings()
    for option in OPTIONS.values():
        if option.name not in COMPUTED:
            assert getattr(settings, option.name) == option.default, option.name


def test_every_default_has_the_shape_of_its_row() -> None:
    for option in OPTIONS.values():
        if option.default is not None:
            assert SHAPES[option.shape](option.default) == option.default, option.name
        assert not option.choices or option.default in option.choices


def test_every_row_has_a_sentence() -> None:
    assert all(option.doc.endswith(".") and "\n" not in option.doc for option in OPTIONS.values())


def test_two_settings_share_no_roots() -> None:
    assert Settings().file_roots is not Settings().file_roots


def test_the_tables_load_nothing_heavy() -> None:
    code = (
        "import msgspec, enum, sys; before = set(sys.modules)\n"
        "import saltern.config.settings, saltern.config.options\n"
        "print([name for name in set(sys.modules) - before if not name.startswith('saltern')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
