"""``pkgrepo`` for dnf, zypper and apk: their files, in a directory of the test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.modules.bench import Bench, ScriptedHost

from saltern.language.result import Outcome
from saltern.modules.lib.packages import choose
from saltern.modules.lib.packages.repositories import rpm
from saltern.modules.states import pkgrepo
from saltern.system.clock import FakeClock
from saltern.system.process import Ran


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "repos"
    place.mkdir()
    monkeypatch.setitem(rpm.PLACES, "dnf", str(place))
    return place


def bench_for(base: Path, manager: str) -> Bench:
    host = ScriptedHost({"dnf": Ran(0), "apk": Ran(0)})
    bench = Bench(base, pkgrepo, host=host)
    row = next(row for row in choose.MANAGERS if row.name == manager)
    bench.run.context[choose.CHOSEN] = choose.make(row, host, FakeClock())
    return bench


def test_a_repository_of_dnf_is_a_section_in_a_file_of_its_name(tmp_path: Path, place: Path) -> None:
    bench = bench_for(tmp_path, "dnf")
    done = bench.change(
        "managed",
        "acme",
        humanname="Acme",
        baseurl="https://x.example/$releasever",
        gpgcheck=True,
        priority=9,
        comments=["not a value"],
    )
    assert done.changes == {"repo": "acme"}
    assert (place / "acme.repo").read_text() == (
        "[acme]\nname=Acme\nenabled=1\nbaseurl=https://x.example/$releasever\ngpgcheck=1\npriority=9\n"
    )
    done = bench.change("managed", "acme", enabled=False)
    assert done.changes == {"enabled": {"old": "1", "new": "0"}}


def test_other_sections_of_the_file_stay(tmp_path: Path, place: Path) -> None:
    (place / "all.repo").write_text("# all\n[a]\nname=a\nbaseurl=http://a\n\n[b]\nname=b\nbaseurl=http://b\n")
    bench = bench_for(tmp_path, "dnf")
    bench.change("managed", "a", baseurl=["http://c", "http://d"])
    assert (place / "all.repo").read_text() == (
        "# all\n\n[a]\nname=a\nbaseurl=http://c\n  http://d\n\n[b]\nname=b\nbaseurl=http://b\n"
    )
    bench.change("absent", "a")
    assert "[a]" not in (place / "all.repo").read_text()
    bench.change("absent", "b", file=str(place / "all.repo"))


def test_a_password_is_not_shown(tmp_path: Path, place: Path) -> None:
    bench = bench_for(tmp_path, "dnf")
    bench.change("managed", "acme", baseurl="http://x", password="geheim1")
    done = bench.change("managed", "acme", password="geheim2")
    assert done.changes == {"password": "changed"}
    assert "geheim" not in repr(done)


@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        ("acme", {}, "has no URL"),
        ("a/b", {"baseurl": "x"}, "cannot name"),
        ("x", {"copr": "y"}, "owner/"),
    ],
)
def test_bad_input_is_refused(
    tmp_path: Path, place: Path, name: str, args: dict[str, object], words: str
) -> None:
    assert words in bench_for(tmp_path, "dnf").refusal("managed", name, **args)


def test_a_repository_of_apk_is_a_line(tmp_path: Path) -> None:
    file = tmp_path / "repositories"
    file.write_text("https://a.example/main\n")
    bench = bench_for(tmp_path, "apk")
    bench.change("managed", "@edge https://b.example", file=str(file))
    assert file.read_text() == "https://a.example/main\n@edge https://b.example\n"
    bench.change("absent", "https://a.example/main", file=str(file))


def test_repositories_of_pacman_are_not_known(tmp_path: Path) -> None:
    assert "use file.managed instead" in bench_for(tmp_path, "pacman").refusal("managed", "x")


def test_zypper_has_names_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "zypp").mkdir()
    monkeypatch.setitem(rpm.PLACES, "zypper", str(tmp_path / "zypp"))
    bench = bench_for(tmp_path, "zypper")
    bench.change("managed", "acme", url="https://x.example/", cache=True, refresh=False, strict_config=True)
    assert (tmp_path / "zypp" / "acme.repo").read_text() == (
        "[acme]\nname=acme\nenabled=1\nbaseurl=https://x.example/\nkeeppackages=1\n"
    )


@pytest.mark.parametrize("name", ["root", "basedir"])
def test_another_place_is_refused(tmp_path: Path, place: Path, name: str) -> None:
    bench = bench_for(tmp_path, "dnf")
    given: dict[str, Any] = {name: "/mnt"}
    said = f"the argument '{name}' is not supported: "
    refused = bench.call("managed", "acme", baseurl="https://x.example/", **given)
    assert (refused.outcome, refused.comment.startswith(said)) == (Outcome.FAILED, True)
    assert bench.call("absent", "acme", **given).comment.startswith(said)
    assert list(place.iterdir()) == []
    bench.change("managed", "acme", baseurl="https://x.example/", **{name: None})
    assert name not in (place / "acme.repo").read_text()
