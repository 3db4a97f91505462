"""What every package manager has to do, told once: run with the real ones, and with recordings of them."""

from __future__ import annotations

from collections.abc import Callable

from tests.modules.pkg.shops import Shop

from saltern.modules.functions.pkg import modify, query
from saltern.modules.states.pkg.held import held, unheld
from saltern.modules.states.pkg.installed import installed, latest
from saltern.modules.states.pkg.removed import purged, removed
from saltern.modules.states.pkg.uptodate import uptodate

Scenario = Callable[[Shop], None]


def turn(old: str, new: str) -> dict[str, str]:
    return {"old": old, "new": new}


def packages_come_with_what_they_need(shop: Shop) -> None:
    shop.publish("aa")
    shop.publish("bb", requires="aa")
    shop.publish("c-c")
    done = shop.change(installed, "x", pkgs=["bb", "c-c"])
    new = shop.v("1.0")
    assert done.changes == {"aa": turn("", new), "bb": turn("", new), "c-c": turn("", new)}
    assert done.data == {"manager": shop.tool, "packages": {"bb": new, "c-c": new}}
    shop.same(installed, "bb", version="1.*")
    shop.same(installed, "c-c", version=f"={new}")
    assert "aa" in str(shop.refusal(installed, "aa", version=">=2"))


def what_cannot_be_had_is_refused_with_the_reason(shop: Shop) -> None:
    shop.publish("aa")
    shop.publish("bb", requires="gone")
    shop.publish("cc", conflicts="aa")
    assert "nowhere was not found" in shop.refusal(installed, "nowhere")
    assert "gone" in shop.refusal(installed, "bb")
    shop.change(installed, "aa")
    assert "aa" in shop.refusal(installed, "cc")


def a_newer_version_comes_when_it_is_asked_for(shop: Shop) -> None:
    shop.publish("aa", "1.0")
    shop.publish("bb", "1.0")
    shop.change(latest, "x", pkgs=["aa", "bb"])
    shop.publish("aa", "1.10")
    shop.publish("bb", "1.10")
    old, new = shop.v("1.0"), shop.v("1.10")
    shop.same(installed, "aa", refresh=True)
    assert shop.ask(query.list_upgrades) == {"aa": new, "bb": new}
    assert shop.ask(query.upgrade_available, "aa") is True
    assert shop.ask(query.latest_version, "aa", "bb", "nowhere") == {"aa": new, "bb": new, "nowhere": ""}
    assert shop.change(latest, "aa", refresh=True).changes == {"aa": turn(old, new)}
    assert shop.ask(query.latest_version, "aa", refresh=False) == ""
    assert shop.change(uptodate, "all", refresh=True).changes == {"bb": turn(old, new)}


def packages_go(shop: Shop) -> None:
    for name in ("aa", "bb", "cc"):
        shop.publish(name)
    shop.same(removed, "aa")
    shop.change(installed, "x", pkgs=["aa", "bb", "cc"])
    old = shop.v("1.0")
    shop.same(removed, "x", pkgs=[{"aa": "2.0"}, "nowhere"])
    assert shop.change(removed, "x", pkgs=["aa", "nowhere"]).changes == {"aa": turn(old, "")}
    assert shop.change(purged, "bb").changes == {"installed": {"bb": turn(old, "")}, "removed": {}}


def what_is_installed_is_installed_again(shop: Shop) -> None:
    shop.publish("aa")
    shop.change(installed, "aa")
    same = {"aa": turn(shop.v("1.0"), shop.v("1.0"))}
    assert shop.change(installed, "aa", reinstall=True, once=False).changes == same


def packages_are_held_and_released(shop: Shop) -> None:
    shop.prepare_holds()
    shop.publish("aa")
    shop.publish("b-b")
    shop.change(installed, "x", pkgs=["aa", "b-b"])
    hold, free = turn("install", "hold"), turn("hold", "install")
    assert shop.change(held, "x", pkgs=["aa", "b-b"]).changes == {"aa": hold, "b-b": hold}
    shop.publish("aa", "2.0")
    shop.same(uptodate, "all", refresh=True)
    assert shop.ask(query.list_holds) == ["aa", "b-b"]
    assert shop.change(unheld, "aa").changes == {"aa": free}
    kept = shop.ask(modify.hold, pkgs=["aa", "b-b"])
    assert isinstance(kept, dict) and [row["changes"] for row in kept.values()] == [hold, {}]
    assert shop.ask(modify.unhold, "aa") == {"aa": {"name": "aa", "result": True, "changes": free}}
    assert shop.change(uptodate, "all", refresh=True).changes == {"aa": turn(shop.v("1.0"), shop.v("2.0"))}


def questions_are_answered(shop: Shop) -> None:
    shop.publish("aa", provides="virtual")
    shop.publish("zz")
    assert shop.ask(query.list_pkgs) == {}
    assert shop.ask(query.version, "aa") == ""
    assert shop.ask(modify.refresh_db) is True
    here = shop.v("1.0")
    assert shop.ask(query.list_repo_pkgs, "aa", "nowhere") == {"aa": [here]}
    assert shop.ask(modify.install, "aa") == {"aa": turn("", here)}
    shop.ask(modify.install, "zz")  # Debian's zypper cannot be without any package, once it had one
    assert shop.ask(query.version, "aa", "nowhere") == {"aa": here, "nowhere": ""}
    assert shop.ask(query.owner, "/usr/share/aa/version") == "aa"
    assert shop.ask(query.owner, "/etc/passwd") == ""
    files = shop.ask(query.file_list, "aa", "nowhere")
    assert isinstance(files, dict) and "/usr/share/aa/version" in files["files"] and files["errors"]
    info = shop.ask(query.info_installed, "aa")
    assert isinstance(info, dict) and info["aa"]["version"] == here
    assert info["aa"]["description"] == "for tests" and info["aa"]["license"] == "MIT"
    shop.same(installed, "virtual")
    assert shop.ask(query.version_cmp, shop.v("1.9"), shop.v("1.10")) == -1
    assert shop.ask(modify.remove, "aa") == {"aa": turn(here, "")}


SCENARIOS: tuple[Scenario, ...] = (
    packages_come_with_what_they_need,
    what_cannot_be_had_is_refused_with_the_reason,
    a_newer_version_comes_when_it_is_asked_for,
    packages_go,
    what_is_installed_is_installed_again,
    packages_are_held_and_released,
    questions_are_answered,
)
