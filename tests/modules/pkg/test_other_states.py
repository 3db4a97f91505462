"""The other ``pkg`` states, with the real apt in a world of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saltern.language.result import Outcome
from saltern.modules.api.context import Context
from saltern.modules.functions.pkg import modify
from saltern.modules.states import pkg
from saltern.modules.states.pkg.downloaded import downloaded
from saltern.modules.states.pkg.groups import group_installed
from saltern.modules.states.pkg.held import held, unheld
from saltern.modules.states.pkg.installed import installed
from saltern.modules.states.pkg.removed import purged, removed
from saltern.modules.states.pkg.uptodate import uptodate

if TYPE_CHECKING:
    from tests.modules.pkg.conftest import World


def test_removed_takes_what_needs_it_along(world: World) -> None:
    world.publish("aa", depends="bb")
    world.publish("bb")
    world.same(removed, "bb")
    world.change(installed, "aa")
    done = world.change(removed, "bb")
    assert done.changes == {"aa": {"old": "1.0", "new": ""}, "bb": {"old": "1.0", "new": ""}}
    assert done.comment == "All targeted packages were removed."


def test_removed_heeds_the_version(world: World) -> None:
    world.publish("aa", "1.0")
    world.change(installed, "aa")
    world.same(removed, "x", pkgs=[{"aa": "<1.0"}])
    world.change(removed, "x", pkgs=[{"aa": "1.0"}])


def test_purged_also_takes_what_a_removal_left(world: World) -> None:
    world.publish("aa", conffile="yes")
    world.publish("bb", conffile="yes")
    world.change(installed, "x", pkgs=["aa", "bb"])
    world.change(removed, "aa")
    world.same(removed, "aa")
    done = world.change(purged, "x", pkgs=["aa", "bb"])
    assert done.changes == {
        "installed": {"bb": {"old": "1.0", "new": ""}},
        "removed": {"aa": {"old": "1.0", "new": ""}},
    }
    assert not (world.root / "etc/aa.conf").exists()


def test_removed_refuses_what_is_no_name(world: World) -> None:
    assert "is not the name of a package" in world.refusal(removed, "a b")
    assert world.same(removed, "x", pkgs=[]).comment == "No packages to remove provided"


def test_uptodate_upgrades_what_is_installed(world: World) -> None:
    world.publish("aa", "1.0")
    world.publish("bb", "1.0")
    world.change(installed, "x", pkgs=["aa", "bb"])
    world.same(uptodate, "all", refresh=True)
    world.publish("aa", "2.0")
    world.publish("bb", "2.0")
    assert world.change(uptodate, "some", refresh=True, pkgs=["bb", "cc"]).changes == {
        "bb": {"old": "1.0", "new": "2.0"}
    }
    done = world.change(uptodate, "all", refresh=True)
    assert done.changes == {"aa": {"old": "1.0", "new": "2.0"}}


def test_an_upgrade_that_needs_more_packages_has_to_be_asked_for(world: World) -> None:
    world.publish("aa", "1.0")
    world.change(installed, "aa")
    world.publish("aa", "2.0", depends="bb")
    world.publish("bb")
    done = world.change(uptodate, "all", refresh=True, dist_upgrade=True)
    assert done.changes == {"aa": {"old": "1.0", "new": "2.0"}, "bb": {"old": "", "new": "1.0"}}


def test_packages_are_held_and_released(world: World) -> None:
    for name in ("aa", "bb", "cc"):
        world.publish(name)
    world.change(installed, "x", pkgs=["aa", "bb", "cc"])
    hold, free = {"old": "install", "new": "hold"}, {"old": "hold", "new": "install"}
    assert world.change(held, "x", pkgs=["aa", "bb"]).changes == {"aa": hold, "bb": hold}
    assert world.change(held, "cc", replace=True).changes == {"cc": hold, "aa": free, "bb": free}
    assert world.change(unheld, "cc").changes == {"cc": free}
    world.change(held, "x", pkgs=["aa", "bb"])
    assert world.change(unheld, "all of them", all=True).changes == {"aa": free, "bb": free}


def test_what_is_not_installed_yet_is_held_if_a_repository_has_it(world: World) -> None:
    world.publish("aa")
    world.ask(modify.refresh_db)
    hold, free = {"old": "install", "new": "hold"}, {"old": "hold", "new": "install"}
    assert world.change(held, "aa").changes == {"aa": hold}
    assert "update_holds" in world.refusal(installed, "aa")
    assert world.change(unheld, "aa").changes == {"aa": free}
    assert "Unable to locate package no-such" in world.refusal(held, "x", pkgs=["aa", "no-such"])
    assert "update_holds" not in world.change(installed, "aa").comment  # aa was not held beside it


def test_a_package_that_an_earlier_state_would_install_is_held_in_test_mode(world: World) -> None:
    path = world.build("aa")
    first = world.context(test=True)
    assert installed(first, "x", sources=[{"aa": path}]).outcome is Outcome.WOULD_CHANGE
    assert held(Context(first.run, test=True), "aa").outcome is Outcome.WOULD_CHANGE
    assert "Unable to locate package aa" in world.refusal(held, "aa")


def test_held_heeds_the_version(world: World) -> None:
    world.publish("aa", "1.0")
    world.change(installed, "aa")
    assert "is not installed as 2.0, but as 1.0" in world.refusal(held, "aa", version="2.0")
    world.change(held, "aa", version="1.*")


def test_packages_are_downloaded_and_not_installed(world: World) -> None:
    world.publish("aa", "1:1.0")
    world.publish("aa", "1:2.0")
    done = world.change(downloaded, "aa", version="<2")
    assert done.changes == {"aa": {"old": "", "new": "1:1.0"}}
    assert world.versions() == {}
    world.change(downloaded, "aa")
    assert "No version of bb" in world.refusal(downloaded, "bb")


def test_apt_has_no_groups(world: World) -> None:
    assert "metapackage" in world.refusal(group_installed, "web")


def test_a_watching_state_does_the_same_again(world: World) -> None:
    world.publish("aa")
    done = world.call(pkg.mod_watch, "aa", sfun="installed")
    assert done.changes == {"aa": {"old": "", "new": "1.0"}}
    assert world.call(pkg.mod_watch, "aa", sfun="held").outcome is Outcome.FAILED
