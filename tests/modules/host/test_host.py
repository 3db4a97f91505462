"""``host`` on a copy of a hosts file, named by the option ``hosts.file``."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.modules.bench import Bench

from saltern.modules.functions import hosts as hosts_functions
from saltern.modules.states import host

TEXT = """# a remark
127.0.0.1   localhost  # here
10.0.0.1\tweb www

10.0.0.2 web
::1 localhost ip6
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "hosts"
    file.write_text(TEXT)
    return file


@pytest.fixture
def bench(tmp_path: Path, file: Path) -> Bench:
    return Bench(tmp_path, host, functions={"hosts": hosts_functions}, opts={"hosts.file": str(file)})


def test_a_name_is_added_and_everything_else_stays(bench: Bench, file: Path) -> None:
    done = bench.change("present", "db", ip="10.0.0.9")
    assert done.changes == {"added": {"10.0.0.9": ["db"]}}
    assert done.data == {"name": "db", "exists": True, "ip": ["10.0.0.9"], "file": str(file)}
    assert file.read_text() == f"{TEXT}10.0.0.9\t\tdb\n"
    bench.change("present", "db2", ip="127.0.0.1")
    assert "127.0.0.1\t\tlocalhost db2\t# here\n" in file.read_text()


def test_several_addresses_comments_and_cleaning(bench: Bench, file: Path) -> None:
    done = bench.change("present", "web", ip=["10.0.0.2", "fe80::1"], clean=True, comment="both")
    assert done.changes == {
        "added": {"fe80::1": ["web"]},
        "comment_added": {"10.0.0.2": ["both"], "fe80::1": ["both"]},
        "removed": {"10.0.0.1": ["web"]},
    }
    assert "10.0.0.1\t\twww\n" in file.read_text()


def test_a_name_elsewhere_is_reported(bench: Bench) -> None:
    result = bench.same("present", "web", ip="10.0.0.1")
    assert result.warnings == ("Host web also resolves to 10.0.0.2; set clean to change that",)


def test_a_name_is_removed_from_some_or_all_addresses(bench: Bench, file: Path) -> None:
    assert bench.change("absent", "web", ip="10.0.0.1").changes == {"host": "web"}
    bench.change("absent", "web")
    assert file.read_text() == TEXT.replace("10.0.0.1\tweb www", "10.0.0.1\t\twww").replace(
        "10.0.0.2 web\n", ""
    )


def test_an_address_has_only_these_names(bench: Bench, file: Path) -> None:
    done = bench.change("only", "10.0.0.1", hostnames=["a", "b"])
    assert done.changes == {"10.0.0.1": {"old": "web www", "new": "a b"}}
    bench.change("only", "10.0.0.3", hostnames=["c"])
    bench.change("only", "10.0.0.2", hostnames=[])
    assert file.read_text().splitlines()[2:] == ["10.0.0.1\t\ta b", "", "::1 localhost ip6", "10.0.0.3\t\tc"]


def test_what_cannot_be_is_refused_in_words(bench: Bench) -> None:
    assert "'10.0.0' is not an IP address" in bench.refusal("present", "db", ip="10.0.0")
    assert "cannot be the name of a host" in bench.refusal("present", "a b", ip="10.0.0.1")
    assert "must not contain" in bench.refusal("present", "a", ip="10.0.0.1", comment="a\nb")
    assert "argument 'ip' is missing" in bench.refusal("present", "a")


def test_functions_look_and_change(bench: Bench) -> None:
    salt = bench.salt
    assert salt["hosts.get_ip"]("www") == "10.0.0.1"
    assert salt["hosts.get_alias"]("::1") == ["localhost", "ip6"]
    assert salt["hosts.add_host"]("10.0.0.5", "five") and salt["hosts.has_pair"]("10.0.0.5", "five")
    assert salt["hosts.set_host"]("10.0.0.5", "six seven", "odd")
    assert salt["hosts.list_hosts"]()["10.0.0.5"] == {"aliases": ["six", "seven"]}  # type: ignore[index]
    assert salt["hosts.rm_host"]("10.0.0.5", "six") and salt["hosts.set_comment"]("9.9.9.9", "x") is False
