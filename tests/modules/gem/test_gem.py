"""``gem``: recorded-style output; a small stand-in for the program keeps what is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from saltern.modules.api.params import BadArgument
from saltern.modules.api.refused import Refused
from saltern.modules.functions import gem as functions
from saltern.modules.states.gem import installed, removed, sources_add, sources_remove
from saltern.system.host import LocalHost
from saltern.system.process import NOT_FOUND, Ran

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk


class Rubygems(LocalHost):
    """Answers like ``gem``."""

    def __init__(self) -> None:
        self.gems = {"rake": "13.0.6, default: 12.3.3", "bigdecimal": "default: 3.1.1"}
        self.sources = ["https://rubygems.org/"]
        self.asked: list[list[str]] = []

    def run(self, command: str | Sequence[str], **_: object) -> Ran:
        argv = list(command)
        self.asked.append(argv)
        verb, last = argv[1], argv[-1]
        if "--installed" in argv:
            return Ran(0 if "13" in argv[argv.index("--version") + 1] else 1, "", "", 1)
        if verb == "list":
            names = [last] if "--exact" in argv else list(self.gems)
            rows = [f"{name} ({self.gems[name]})" for name in names if name in self.gems]
            return Ran(0, "\n".join(rows) + "\n", "", 1)
        if verb == "install" and last == "nope":
            return Ran(2, "", "ERROR:  Could not find a valid gem 'nope' (>= 0) in any repository", 1)
        if verb == "install":
            self.gems[last] = argv[argv.index("--version") + 1] if "--version" in argv else "1.0"
        if verb == "uninstall":
            del self.gems[last]
        if verb == "sources" and "--add" in argv:
            self.sources.append(last)
        if verb == "sources" and "--remove" in argv:
            self.sources.remove(last)
        if verb == "sources" and "--list" in argv:
            return Ran(0, "*** CURRENT SOURCES ***\n\n" + "\n".join(self.sources) + "\n", "", 1)
        return Ran(0, "", "", 1)


@pytest.fixture
def gem(desk: Desk) -> Rubygems:
    host = Rubygems()
    desk.run.host = host
    return host


def test_gems_come_in_versions(desk: Desk, gem: Rubygems) -> None:
    result = desk.change(installed, "rails", version="7.1.0", source="https://g.example/")
    assert result.changes == {"rails": "Installed"}
    assert result.data == {"gem": "rails", "versions": ["7.1.0"]}
    wanted = ["gem", "install", "--no-document", "--version", "7.1.0", "--source", "https://g.example/"]
    assert [*wanted, "rails"] in gem.asked
    assert desk.same(installed, "rake").data["versions"] == ["13.0.6", "12.3.3"]
    desk.same(installed, "rake", version="12.3.3")
    desk.same(installed, "rake", version="~> 13.0")


def test_gems_go(desk: Desk, gem: Rubygems) -> None:
    assert desk.change(removed, "rake").changes == {"rake": "Removed"}


def test_a_gem_is_removed_by_name_and_never_all_of_them(desk: Desk, gem: Rubygems) -> None:
    """What stands behind ``--`` is not for gem, which then takes ``uninstall --all`` by its word."""
    desk.change(removed, "rake")
    assert ["gem", "uninstall", "--all", "--executables", "rake"] in gem.asked
    for gems in ("", "--force", "rake --force"):
        with pytest.raises((BadArgument, Refused)):
            functions.uninstall(desk.context(), gems)


def test_sources_come_and_go(desk: Desk, gem: Rubygems) -> None:
    assert desk.change(sources_add, "https://g.example/").changes == {"https://g.example/": "Installed"}
    result = desk.change(sources_remove, "https://rubygems.org/")
    assert result.changes == {"https://rubygems.org/": "Removed"}
    assert functions.sources_list(desk.context()) == ["https://g.example/"]


def test_bad_input_is_reported_plainly(desk: Desk, gem: Rubygems) -> None:
    assert "Could not find a valid gem" in desk.refusal(installed, "nope")
    assert "not the name" in desk.refusal(installed, "--source=x")
    assert "absolute" in desk.refusal(installed, "x", gem_bin="gem")
    assert "the URL of a source" in desk.refusal(sources_add, "nonsense")


def test_functions_tell_of_gems(desk: Desk, gem: Rubygems) -> None:
    assert functions.list_(desk.context(), "r") == {"rake": ["13.0.6", "12.3.3"]}
    assert functions.install(desk.context(), "x") is True
    assert functions.uninstall(desk.context(), "x") is True


def test_a_machine_without_ruby_is_reported_plainly(desk: Desk) -> None:
    class Bare(LocalHost):
        def run(self, command: str | Sequence[str], **_: object) -> Ran:
            return Ran(NOT_FOUND, err="gem: no such file or directory")

    desk.run.host = Bare()
    assert "install it first" in desk.refusal(installed, "rake")
