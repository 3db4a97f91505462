"""The execution functions of ``pkg`` and ``lowpkg``, with the real apt in a world of its own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from saltern.modules.api.params import BadArgument
from saltern.modules.functions import lowpkg
from saltern.modules.functions.pkg import LAZY, groups, modify, query, repos

if TYPE_CHECKING:
    from tests.modules.pkg.conftest import World


def test_versions_are_text_for_one_name_and_a_mapping_for_several(world: World) -> None:
    world.publish("aa", "1.0")
    assert world.ask(query.version, "aa") == ""
    world.ask(modify.refresh_db)
    assert world.ask(modify.install, "aa") == {"aa": {"old": "", "new": "1.0"}}
    assert world.ask(query.version, "aa") == "1.0"
    assert world.ask(query.version, "aa", "bb") == {"aa": "1.0", "bb": ""}
    assert world.ask(query.list_pkgs) == {"aa": "1.0"}
    assert world.ask(query.list_pkgs, versions_as_list=True) == {"aa": ["1.0"]}


def test_the_latest_version_is_empty_when_there_is_nothing_newer(world: World) -> None:
    world.publish("aa", "1.0")
    assert world.ask(query.latest_version, "aa") == "1.0"
    world.ask(modify.install, "aa")
    assert world.ask(query.available_version, "aa") == ""
    world.publish("aa", "2.0")
    assert world.ask(query.latest_version, "aa", "cc") == {"aa": "2.0", "cc": ""}
    assert world.ask(query.upgrade_available, "aa") is True
    assert world.ask(query.list_upgrades) == {"aa": "2.0"}
    assert world.ask(query.list_repo_pkgs, "aa") == {"aa": ["2.0", "1.0"]}
    assert world.ask(modify.upgrade) == {"aa": {"old": "1.0", "new": "2.0"}}


@pytest.mark.parametrize(
    ("one", "other", "order"),
    [("1.0", "1.0", 0), ("1.0~rc1", "1.0", -1), ("2:1", "9", 1), ("1.10", "1.9", 1)],
)
def test_versions_are_compared_as_dpkg_does(world: World, one: str, other: str, order: int) -> None:
    assert world.ask(query.version_cmp, one, other) == order
    assert world.ask(lowpkg.version_cmp, other, one) == -order
    assert world.ask(query.version_cmp, "1:1.0", "2:1.0", ignore_epoch=True) == 0


def test_packages_are_installed_and_removed_and_their_files_are_known(world: World) -> None:
    world.publish("aa", "1.0", conffile="yes")
    world.publish("aa", "2.0", conffile="yes")
    world.publish("bb", homepage="https://example.org")
    world.ask(modify.refresh_db)
    world.ask(modify.install, pkgs=[{"aa": "1.0"}, "bb"])
    assert world.versions() == {"aa": "1.0", "bb": "1.0"}
    files = world.ask(lowpkg.file_list, "aa")
    assert isinstance(files, dict) and "/usr/share/aa/version" in files["files"]
    assert world.ask(query.owner, "/usr/share/aa/version") == "aa"
    assert world.ask(query.owner, "/usr/share/aa/version", "/x") == {
        "/usr/share/aa/version": "aa",
        "/x": "",
    }
    info = world.ask(query.info_installed, "bb", attr="version,url")
    assert info == {"bb": {"version": "1.0", "url": "https://example.org"}}
    assert world.ask(modify.remove, "aa") == {"aa": {"old": "1.0", "new": ""}}
    assert world.ask(query.list_pkgs, removed=True) == {"aa": "1.0"}
    world.ask(modify.purge, pkgs=["aa", "nothing"])
    assert world.ask(query.list_pkgs, removed=True) == {}


def test_what_nobody_needs_any_longer_is_removed(world: World) -> None:
    world.publish("aa", depends="bb")
    world.publish("bb")
    world.ask(modify.refresh_db)
    world.ask(modify.install, "aa")
    world.ask(modify.remove, "aa")
    assert world.ask(modify.autoremove, list_only=True) == ["bb"]
    assert world.ask(modify.autoremove, purge=True) == {"bb": {"old": "1.0", "new": ""}}


def test_holds_are_set_and_listed(world: World) -> None:
    world.publish("aa")
    world.ask(modify.refresh_db)
    world.ask(modify.install, "aa")
    done = world.ask(modify.hold, "aa")
    assert done == {"aa": {"name": "aa", "result": True, "changes": {"old": "install", "new": "hold"}}}
    assert world.ask(query.list_holds) == ["aa"]
    assert world.ask(query.get_selections, state="hold") == {"hold": ["aa"]}
    world.ask(modify.unhold, "aa")
    assert world.ask(query.list_holds) == []


def test_a_package_file_is_looked_into(world: World) -> None:
    path = world.build("aa", "1.2")
    assert world.ask(lowpkg.bin_pkg_info, path) == {"name": "aa", "version": "1.2"}


def test_repositories_are_listed(world: World) -> None:
    found = world.ask(repos.list_repos)
    assert isinstance(found, dict)
    [[row]] = found.values()
    assert row["line"] == f"deb [trusted=yes] copy:{world.repo} ./"


def test_a_repository_is_added_looked_at_and_removed(world: World) -> None:
    line = "deb https://me:geheim@packages.acme.example/debian bookworm main"
    file = world.root / "etc/apt/sources.list.d/acme.list"
    made = world.ask(repos.mod_repo, line, file=str(file), refresh=False)
    assert file.read_text() == f"{line}\n"
    seen = world.ask(repos.get_repo, line)
    assert isinstance(seen, dict) and seen["uri"] == "https://me:***@packages.acme.example/debian"
    assert "geheim" not in repr((made, seen, world.ask(repos.list_repos)))
    assert "has been removed" in str(world.ask(repos.del_repo, line))
    assert "is not configured" in str(world.ask(repos.del_repo, line))
    assert not file.exists()
    assert world.ask(repos.get_repo, line) == {}
    with pytest.raises(BadArgument, match="is not a repository of apt"):
        world.ask(repos.get_repo, "acme")


def test_a_key_is_added_seen_and_removed(world: World, tmp_path: Path) -> None:
    if shutil.which("gpg") is None:
        pytest.skip("needs gpg")
    home = tmp_path / "gnupg"
    home.mkdir(mode=0o700)
    gpg = ["gpg", "--homedir", str(home), "--batch", "--passphrase", ""]
    made = ["--quick-generate-key", "nobody <n@example.org>", "ed25519", "sign", "0"]
    subprocess.run([*gpg, *made], check=True, capture_output=True)
    key = subprocess.run([*gpg, "--armor", "--export"], check=True, capture_output=True, text=True).stdout
    subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "all"], check=True)
    assert world.ask(repos.add_repo_key, text=key, keyfile="acme.asc") is True
    [(keyid, found)] = world.ask(repos.get_repo_keys).items()  # type: ignore[attr-defined]
    assert found["uid"] == "nobody <n@example.org>" and found["fingerprint"].endswith(keyid)
    assert world.ask(repos.del_repo_key, keyid=keyid) is True
    assert world.ask(repos.get_repo_keys) == {}
    assert world.ask(repos.del_repo_key, name="acme.asc") is False
    for bad in ({}, {"text": "no key"}, {"text": key, "keyfile": "../x.asc"}, {"path": "/nowhere"}):
        with pytest.raises(BadArgument):
            world.ask(repos.add_repo_key, **bad)


def test_apt_has_no_groups(world: World) -> None:
    for ask in (groups.group_list, lambda ctx: groups.group_info(ctx, "x")):
        with pytest.raises(BadArgument, match="metapackage"):
            ask(world.context())


def test_bad_calls_are_reported_in_words(world: World) -> None:
    calls: tuple[Callable[[], object], ...] = (
        lambda: world.ask(modify.install),
        lambda: world.ask(modify.install, "aa", version=">=1"),
        lambda: world.ask(query.info_installed, "aa"),
        lambda: world.ask(modify.install, "nowhere"),
    )
    for call in calls:
        with pytest.raises(BadArgument):
            call()


def test_every_function_named_is_there() -> None:
    places = {"query": query, "modify": modify, "repos": repos, "groups": groups}
    assert all(hasattr(places[place], name) for name, place in LAZY.items())
