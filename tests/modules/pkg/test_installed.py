"""``pkg.installed`` and ``pkg.latest``, with the real apt in a world of its own."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from saltern.language.result import Outcome
from saltern.modules.api.context import Context
from saltern.modules.lib.packages import choose
from saltern.modules.states.pkg.installed import installed, latest

if TYPE_CHECKING:
    from tests.modules.pkg.conftest import World


def test_a_package_is_installed_with_what_it_needs(world: World) -> None:
    world.publish("aa", depends="bb")
    world.publish("bb", "2.0-1")
    done = world.change(installed, "aa")
    assert done.changes == {"aa": {"old": "", "new": "1.0"}, "bb": {"old": "", "new": "2.0-1"}}
    assert done.data == {"manager": "apt", "packages": {"aa": "1.0"}}
    assert done.comment == "The following packages were installed/updated: aa"


def test_several_packages_are_one_transaction_with_versions_as_asked(world: World) -> None:
    for version in ("1.0", "1.5", "2.0"):
        world.publish("aa", version)
    world.publish("bb")
    done = world.change(installed, "tools", pkgs=["bb", {"aa": ">=1.1,<2"}])
    assert done.changes == {"aa": {"old": "", "new": "1.5"}, "bb": {"old": "", "new": "1.0"}}


@pytest.mark.parametrize(
    ("version", "chosen"),
    [("1.0", "1.0"), ("1.*", "1.5"), ("<2", "1.5"), ("!=2.0", "1.5"), ("==1.0", "1.0"), ("latest", "2.0")],
)
def test_a_version_may_be_exact_a_pattern_or_a_range(world: World, version: str, chosen: str) -> None:
    for one in ("1.0", "1.5", "2.0"):
        world.publish("aa", one)
    done = world.change(installed, "aa", version=version)
    assert done.changes == {"aa": {"old": "", "new": chosen}}


def test_an_exact_version_brings_a_newer_one_down_unless_updates_are_allowed(world: World) -> None:
    world.publish("aa", "1.0")
    world.publish("aa", "2.0")
    world.change(installed, "aa")
    world.same(installed, "aa", version="1.0", allow_updates=True)
    assert world.change(installed, "aa", version="1.0").changes == {"aa": {"old": "2.0", "new": "1.0"}}


def test_an_epoch_nobody_wrote_does_not_matter(world: World) -> None:
    world.publish("aa", "3:1.0")
    assert world.change(installed, "aa", version="1.0").changes == {"aa": {"old": "", "new": "3:1.0"}}
    assert "No version of aa is '1.0'" in world.refusal(installed, "aa", version="1.0", ignore_epoch=False)


def test_what_another_package_provides_is_installed(world: World) -> None:
    world.publish("aa", provides="editor-of-sorts")
    world.change(installed, "editor-of-sorts")
    assert world.versions() == {"aa": "1.0"}


def test_a_package_file_is_installed_and_replaced_by_another_version(world: World) -> None:
    first, second = world.build("aa", "1.0"), world.build("aa", "1.1")
    assert world.change(installed, "x", sources=[{"aa": first}]).changes == {"aa": {"old": "", "new": "1.0"}}
    assert world.change(installed, "x", sources=[{"aa": second}]).changes == {
        "aa": {"old": "1.0", "new": "1.1"}
    }


def test_a_package_file_may_come_from_the_tree(world: World) -> None:
    path = world.build("aa")
    shutil.copy(path, world.base / "states" / "aa.deb")
    world.change(installed, "x", sources=[{"aa": "salt://aa.deb"}])


def test_a_file_that_is_another_package_is_refused(world: World) -> None:
    path = world.build("aa")
    assert "is the package aa, not bb" in world.refusal(installed, "x", sources=[{"bb": path}])
    assert "was not found" in world.refusal(installed, "x", sources=[{"bb": "/no/where.deb"}])


def test_recommended_packages_can_be_left_out(world: World) -> None:
    world.publish("aa", recommends="bb")
    world.publish("bb")
    world.change(installed, "aa", install_recommends=False)
    assert world.versions() == {"aa": "1.0"}


def test_only_upgrade_leaves_out_what_is_not_there(world: World) -> None:
    world.publish("aa")
    world.same(installed, "aa", only_upgrade=True)


def test_a_reinstall_is_a_change_each_time(world: World) -> None:
    world.publish("aa")
    world.change(installed, "aa")
    done = world.change(installed, "aa", reinstall=True, once=False)
    assert done.changes == {"aa": {"old": "1.0", "new": "1.0"}}


def test_a_package_is_installed_and_held(world: World) -> None:
    world.publish("aa")
    turn = {"old": "install", "new": "hold"}
    done = world.change(installed, "aa", hold=True)
    assert done.changes == {"aa": {"old": "", "new": "1.0", "hold": turn}}
    assert world.change(installed, "aa", hold=False).changes == {"aa": {"old": "hold", "new": "install"}}


def test_a_held_package_is_changed_only_if_asked(world: World) -> None:
    world.publish("aa", "1.0")
    world.change(installed, "aa", hold=True)
    world.publish("aa", "2.0")
    assert "update_holds" in world.refusal(installed, "aa", version="2.0")
    world.change(installed, "aa", version="2.0", update_holds=True)
    world.same(installed, "aa", hold=True)


def test_an_unknown_package_or_version_is_refused_with_a_hint(world: World) -> None:
    world.publish("aa", "1.0")
    assert "pkgrepo.managed" in world.refusal(installed, "nowhere")
    assert world.refusal(installed, "aa", version=">9").endswith("available: 1.0")


@pytest.mark.parametrize(
    "args",
    [
        {"pkgs": ["aa"], "sources": [{"aa": "/x"}]},
        {"version": ">="},
        {"pkgs": [["aa"]]},
        {"pkgs": ["--force-yes"]},
        {"pkgs": ["a b"]},
        {"sources": ["aa"]},
    ],
)
def test_bad_arguments_are_refused_in_words(world: World, args: dict[str, object]) -> None:
    world.publish("aa")
    assert world.refusal(installed, "aa", **args)


def test_a_broken_dependency_is_reported_as_apt_tells_it(world: World) -> None:
    world.publish("aa", depends="no-such-thing")
    assert "apt-get failed" in world.refusal(installed, "aa")


def test_a_failed_script_is_a_failure_that_names_what_was_done(world: World) -> None:
    world.publish("aa", depends="bb", postinst="echo it is broken >&2; exit 3")
    world.publish("bb")
    done = world.call(installed, "aa")
    assert done.outcome is Outcome.FAILED
    assert done.comment.startswith("The following packages failed to install/update: aa\napt-get failed")
    assert done.changes == {"bb": {"old": "", "new": "1.0"}}
    assert done.data["packages"] == {"aa": ""}


def test_arguments_without_effect_are_reported(world: World) -> None:
    world.publish("aa")
    done = world.call(installed, "aa", instal_recommends=False, report_reboot_exit_codes=False)
    assert done.warnings == (
        "argument 'instal_recommends' has no effect here; did you mean 'install_recommends'?",
    )


def test_the_architecture_of_the_machine_is_not_part_of_a_name(world: World) -> None:
    world.publish("aa")
    world.change(installed, "aa:all")
    assert world.same(installed, "aa:all").data["packages"] == {"aa": "1.0"}


def test_lists_are_fetched_again_when_told(world: World) -> None:
    world.publish("aa", "1.0")
    world.change(installed, "aa")
    world.publish("aa", "2.0")
    assert "No version" in world.refusal(installed, "aa", version="2.0", refresh=False)
    world.change(installed, "aa", version="2.0", refresh=True)


def test_latest_follows_the_repository(world: World) -> None:
    world.publish("aa", "1.0")
    assert world.change(latest, "aa").changes == {"aa": {"old": "", "new": "1.0"}}
    world.publish("aa", "1.1")
    done = world.change(latest, "several", pkgs=["aa"])
    assert done.changes == {"aa": {"old": "1.0", "new": "1.1"}}
    assert world.same(latest, "aa").comment == "All packages are up-to-date (aa)"


def test_latest_refuses_what_nobody_has(world: World) -> None:
    assert "nowhere was not found" in world.refusal(latest, "nowhere")
    assert "takes no versions" in world.refusal(latest, "x", pkgs=[{"aa": "1"}])


def test_in_test_mode_a_package_may_come_with_a_repository_that_is_not_there_yet(world: World) -> None:
    ctx = world.context(test=True)
    choose.stale(ctx)
    done = installed(ctx, "nowhere")
    assert done.outcome is Outcome.WOULD_CHANGE
    assert done.changes == {"nowhere": {"old": "", "new": "installed"}}


def test_a_plan_fetches_no_lists_and_does_not_call_a_new_package_a_failure(world: World) -> None:
    world.publish("aa")
    run = world.fresh_run()
    run.settings = replace(run.settings, refresh_in_test=False)
    done = installed(Context(run, test=True), "aa")
    assert done.outcome is Outcome.WOULD_CHANGE, done.comment
    assert not list((world.root / "var/lib/apt/lists").glob("*Packages*"))
    run.settings = replace(run.settings, refresh_in_test=True)
    run.context.clear()
    done = installed(Context(run, test=True), "aa")
    assert done.changes == {"aa": {"old": "", "new": "1.0"}}
