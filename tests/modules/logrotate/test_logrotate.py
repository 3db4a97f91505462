"""``logrotate.set`` on a copy of logrotate.conf."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.modules.bench import Bench

from saltern.modules.functions import logrotate as logrotate_functions
from saltern.modules.states import logrotate

TEXT = """# see the manual
weekly
rotate 4

/var/log/wtmp {
    monthly
    rotate 1
}
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "logrotate.conf").write_text(TEXT)
    return str(tmp_path / "logrotate.conf")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, logrotate, functions={"logrotate": logrotate_functions})


def test_settings_at_the_top_and_in_a_block(bench: Bench, file: str) -> None:
    done = bench.change("set", "it", key="rotate", value=52, conf_file=file)
    assert done.changes == {"old": "4", "new": "52"}
    bench.change("set", "it", key="compress", value=True, conf_file=file)
    block = "/var/log/wtmp"
    done = bench.change("set", "it", key=block, value="rotate", setting="2", conf_file=file)
    assert done.data == {"file": file, "block": block, "key": "rotate", "value": "2"}
    bench.change("set", "it", key=block, value="missingok", setting=True, conf_file=file)
    bench.change("set", "it", key="/var/log/new", value="size", setting="1M", conf_file=file)
    assert Path(file).read_text() == (
        "# see the manual\nweekly\nrotate 52\n\ncompress\n"
        "/var/log/wtmp {\n    monthly\n    rotate 2\n    missingok\n}\n"
        "/var/log/new {\n    size 1M\n}\n"
    )


def test_what_cannot_be_is_refused_in_words(bench: Bench, file: str) -> None:
    assert "must not contain" in bench.refusal("set", "it", key="a", value="b\nc", conf_file=file)
    assert "argument 'key' is missing" in bench.refusal("set", "it", value=1)


def test_functions_get_and_set(bench: Bench, file: str) -> None:
    salt = bench.salt
    assert salt["logrotate.show_conf"](file) == {"weekly": "", "rotate": "4"}
    assert salt["logrotate.get"]("/var/log/wtmp", "rotate", file) == "1"
    assert (
        salt["logrotate.set"]("rotate", 5, conf_file=file)
        and salt["logrotate.get"]("rotate", None, file) == "5"
    )
