"""What only pacman does, with the real one, in a copy of this machine that is thrown away."""

from __future__ import annotations

import pytest
from tests.modules.pkg.copies import in_a_copy
from tests.modules.pkg.scenarios import turn
from tests.modules.pkg.shops import PacmanShop

from saltern.modules.functions.pkg import groups, modify, query
from saltern.modules.states.pkg.downloaded import downloaded
from saltern.modules.states.pkg.groups import group_installed
from saltern.modules.states.pkg.installed import installed, latest
from saltern.modules.states.pkg.removed import removed
from saltern.modules.states.pkg.uptodate import uptodate

PROGRAMS = ("pacman", "repo-add", "bsdtar", "vercmp")
pytestmark = pytest.mark.timeout(300)


@in_a_copy(*PROGRAMS)
def test_what_takes_the_place_of_another_is_foretold() -> None:
    shop = PacmanShop()
    shop.publish("old-one")
    shop.change(installed, "old-one")
    shop.publish("new-one", obsoletes="old-one", conflicts="old-one")
    told = shop.refusal(installed, "new-one", refresh=True)
    assert "new-one and old-one are in conflict" in told
    done = shop.change(uptodate, "all", refresh=True)
    assert done.changes == {"new-one": turn("", "1.0-1"), "old-one": turn("1.0-1", "")}


@in_a_copy(*PROGRAMS)
def test_what_others_need_stays_and_the_reason_is_reported() -> None:
    shop = PacmanShop()
    shop.publish("aa")
    shop.publish("bb", requires="aa")
    shop.change(installed, "bb")
    assert "removing aa breaks dependency 'aa' required by bb" in shop.refusal(removed, "aa")
    assert shop.ask(modify.autoremove, list_only=True) == []
    shop.change(removed, "bb")
    assert shop.ask(modify.autoremove, list_only=True) == ["aa"]
    assert shop.ask(modify.autoremove, purge=True) == {"aa": turn("1.0-1", "")}
    assert shop.ask(modify.autoremove) == {}


@in_a_copy(*PROGRAMS)
def test_files_groups_and_repositories() -> None:
    shop = PacmanShop()
    shop.publish("aa", "2.0")
    shop.publish("aa", "1.0", repo="extra")
    shop.publish("bb", group="web")
    shop.publish("cc", group="web")
    assert shop.change(installed, "aa", fromrepo="extra-repo").changes == {"aa": turn("", "1.0-1")}
    assert "not found in nowhere" in shop.refusal(installed, "bb", fromrepo="nowhere")
    assert shop.change(latest, "aa").changes == {"aa": turn("1.0-1", "2.0-1")}
    path = shop.build("dd", "1:3")
    done = shop.change(installed, "x", sources=[{"dd": path}])
    assert done.changes == {"dd": turn("", "1:3-1")}
    shop.change(group_installed, "web", include=["aa"])
    assert shop.ask(groups.group_list) == {"installed": ["web"], "available": []}
    assert "has no group" in shop.refusal(group_installed, "nothing")
    assert shop.ask(query.version_cmp, "1:1-1", "2-1") == 1


@in_a_copy(*PROGRAMS)
def test_packages_are_downloaded_and_not_installed() -> None:
    shop = PacmanShop()
    shop.publish("aa")
    assert shop.change(downloaded, "aa").changes == {"aa": turn("", "1.0-1")}
    assert shop.versions() == {}
