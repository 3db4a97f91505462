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


def test_false_removes_a_setting_and_is_nothing_where_there_is_none(bench: Bench, file: str) -> None:
    bench.same("set", "it", key="compress", value=False, conf_file=file)
    done = bench.change("set", "it", key="weekly", value=False, conf_file=file)
    assert done.changes == {"old": True, "new": False}
    bench.change("set", "it", key="/var/log/wtmp", value="monthly", setting=False, conf_file=file)
    assert Path(file).read_text() == "# see the manual\nrotate 4\n\n/var/log/wtmp {\n    rotate 1\n}\n"


def test_a_block_of_an_included_file_is_changed_there(bench: Bench, file: str, tmp_path: Path) -> None:
    (tmp_path / "more.d").mkdir()
    block = "/var/log/app {\n    postrotate\n        rotate 9\n    endscript\n    rotate 1\n}\n"
    (tmp_path / "more.d" / "app").write_text(block)
    Path(file).write_text(f"include {tmp_path}/more.d\n{TEXT}")
    done = bench.change("set", "it", key="/var/log/app", value="rotate", setting=3, conf_file=file)
    assert done.changes == {"old": "1", "new": "3"}
    assert done.data["file"] == str(tmp_path / "more.d" / "app")
    assert (tmp_path / "more.d" / "app").read_text() == block.replace("rotate 1", "rotate 3")
    assert bench.salt["logrotate.get"]("/var/log/app", "rotate", file) == "3"


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
