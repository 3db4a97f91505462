"""Several ``pkg`` states in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests import kit

from saltern.language.chunk import Chunk
from saltern.modules.api.registry import Registry
from saltern.modules.states import pkg
from saltern.modules.states.pkg.aggregate import merge_chunks

if TYPE_CHECKING:
    from tests.modules.pkg.conftest import World


def chunk(name: str, fun: str = "installed", **args: object) -> Chunk:
    return kit.chunk(name, state="pkg", fun=fun, name=name, more=args)


def test_packages_of_the_same_kind_come_together() -> None:
    first = chunk("aa", version="1.0")
    others = [chunk("x", pkgs=["bb", {"cc": "2"}]), chunk("dd")]
    assert merge_chunks(first, [first, *others], {}).args["pkgs"] == [{"aa": "1.0"}, "bb", {"cc": "2"}, "dd"]
    assert "version" not in merge_chunks(first, [first, *others], {}).args


def test_others_stay_out() -> None:
    first = chunk("aa")
    others = [
        chunk("bb", "removed"),
        chunk("cc", fromrepo="backports"),
        chunk("dd", hold=True),
        chunk("ee", sources=[{"ee": "/x.deb"}]),
        chunk("ff", install_recommends=False),
    ]
    assert merge_chunks(first, [first, *others], {}) is first


def test_files_come_together_with_files() -> None:
    first = chunk("x", sources=[{"aa": "/a.deb"}])
    other = chunk("y", sources=[{"bb": "/b.deb"}])
    assert merge_chunks(first, [first, other], {}).args["sources"] == [{"aa": "/a.deb"}, {"bb": "/b.deb"}]


SLS = """
aa: {pkg.installed: [{aggregate: True}]}
bb: {pkg.installed: [{aggregate: True}]}
cc: {pkg.installed: [{aggregate: True}, {unless: 'true'}]}
"""


def test_a_run_installs_them_all_with_the_first(world: World) -> None:
    for name in ("aa", "bb", "cc"):
        world.publish(name)
    report = kit.run_sls(
        {"main.sls": SLS}, registry=Registry(states={"pkg": pkg}), grains={"os_family": "Debian"}
    )
    changes = [answer.result.changes for answer in report.answers]
    installed = {"old": "", "new": "1.0"}
    assert changes == [{"aa": installed, "bb": installed}, {}, {}], [
        answer.result.comment for answer in report.answers
    ]
    assert world.versions() == {"aa": "1.0", "bb": "1.0"}
