"""The execution functions of ``pkg`` and ``lowpkg``, with the real apt in a world of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from saltern.modules.functions import lowpkg
from saltern.modules.functions.pkg import LAZY, changing, looking
from saltern.modules.params import BadArgument

if TYPE_CHECKING:
    from tests.modules.pkg.conftest import World


def test_versions_are_text_for_one_name_and_a_mapping_for_several(world: World) -> None:
    world.publish("aa", "1.0")
    assert world.ask(looking.version, "aa") == ""
    world.ask(changing.refresh_db)
    assert world.ask(changing.install, "aa") == {"aa": {"old": "", "new": "1.0"}}
    assert world.ask(looking.version, "aa") == "1.0"
    assert world.ask(looking.version, "aa", "bb") == {"aa": "1.0", "bb": ""}
    assert world.ask(looking.list_pkgs) == {"aa": "1.0"}
    assert world.ask(looking.list_pkgs, versions_as_list=True) == {"aa": ["1.0"]}


def test_the_latest_version_is_empty_when_there_is_nothing_newer(world: World) -> None:
    world.publish("aa", "1.0")
    assert world.ask(looking.latest_version, "aa") == "1.0"
    world.ask(changing.install, "aa")
    assert world.ask(looking.available_version, "aa") == ""
    world.publish("aa", "2.0")
    assert world.ask(looking.latest_version, "aa", "cc") == {"aa": "2.0", "cc": ""}
    assert world.ask(looking.upgrade_available, "aa") is True
    assert world.ask(looking.list_upgrades) == {"aa": "2.0"}
    assert world.ask(looking.list_repo_pkgs, "aa") == {"aa": ["2.0", "1.0"]}
    assert world.ask(changing.upgrade) == {"aa": {"old": "1.0", "new": "2.0"}}


@pytest.mark.parametrize(
    ("one", "other", "order"),
    [("1.0", "1.0", 0), ("1.0~rc1", "1.0", -1), ("2:1", "9", 1), ("1.10", "1.9", 1)],
)
def test_versions_are_compared_as_dpkg_does(world: World, one: str, other: str, order: int) -> None:
    assert world.ask(looking.version_cmp, one, other) == order
    assert world.ask(lowpkg.version_cmp, other, one) == -order
    assert world.ask(looking.version_cmp, "1:1.0", "2:1.0", ignore_epoch=True) == 0


def test_packages_are_installed_and_removed_and_their_files_are_known(world: World) -> None:
    world.publish("aa", "1.0", conffile="yes")
    world.publish("aa", "2.0", conffile="yes")
    world.publish("bb", homepage="https://example.org")
    world.ask(changing.refresh_db)
    world.ask(changing.install, pkgs=[{"aa": "1.0"}, "bb"])
    assert world.versions() == {"aa": "1.0", "bb": "1.0"}
    files = world.ask(lowpkg.file_list, "aa")
    assert isinstance(files, dict) and "/usr/share/aa/version" in files["files"]
    assert world.ask(looking.owner, "/usr/share/aa/version") == "aa"
    assert world.ask(looking.owner, "/usr/share/aa/version", "/x") == {
        "/usr/share/aa/version": "aa",
        "/x": "",
    }
    info = world.ask(looking.info_installed, "bb", attr="version,url")
    assert info == {"bb": {"version": "1.0", "url": "https://example.org"}}
    assert world.ask(changing.remove, "aa") == {"aa": {"old": "1.0", "new": ""}}
    assert world.ask(looking.list_pkgs, removed=True) == {"aa": "1.0"}
    world.ask(changing.purge, pkgs=["aa", "nothing"])
    assert world.ask(looking.list_pkgs, removed=True) == {}


def test_what_nobody_needs_any_longer_is_removed(world: World) -> None:
    world.publish("aa", depends="bb")
    world.publish("bb")
    world.ask(changing.refresh_db)
    world.ask(changing.install, "aa")
    world.ask(changing.remove, "aa")
    assert world.ask(changing.autoremove, list_only=True) == ["bb"]
    assert world.ask(changing.autoremove, purge=True) == {"bb": {"old": "1.0", "new": ""}}


def test_holds_are_set_and_listed(world: World) -> None:
    world.publish("aa")
    world.ask(changing.refresh_db)
    world.ask(changing.install, "aa")
    done = world.ask(changing.hold, "aa")
    assert done == {"aa": {"name": "aa", "result": True, "changes": {"old": "install", "new": "hold"}}}
    assert world.ask(looking.list_holds) == ["aa"]
    assert world.ask(looking.get_selections, state="hold") == {"hold": ["aa"]}
    world.ask(changing.unhold, "aa")
    assert world.ask(looking.list_holds) == []


def test_a_package_file_is_looked_into(world: World) -> None:
    path = world.build("aa", "1.2")
    assert world.ask(lowpkg.bin_pkg_info, path) == {"name": "aa", "version": "1.2"}


def test_repositories_are_listed(world: World) -> None:
    repos = world.ask(looking.list_repos)
    assert isinstance(repos, dict)
    [[found]] = repos.values()
    assert found["line"] == f"deb [trusted=yes] copy:{world.repo} ./"


def test_bad_calls_are_told_in_words(world: World) -> None:
    calls: tuple[Callable[[], object], ...] = (
        lambda: world.ask(changing.install),
        lambda: world.ask(changing.install, "aa", version=">=1"),
        lambda: world.ask(looking.info_installed, "aa"),
        lambda: world.ask(changing.install, "nowhere"),
    )
    for call in calls:
        with pytest.raises(BadArgument):
            call()


def test_every_function_named_is_there() -> None:
    assert all(
        hasattr({"looking": looking, "changing": changing}[place], name) for name, place in LAZY.items()
    )
