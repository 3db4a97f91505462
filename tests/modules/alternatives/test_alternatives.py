"""``alternatives`` with the real program, in a directory of the test (``DPKG_ROOT``)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.modules.bench import Bench, ScriptedHost

from saltern.modules.functions import alternatives as functions
from saltern.modules.states import alternatives
from saltern.system.process import Ran

NAME = "saltern-t-editor"
LINK = f"/usr/bin/{NAME}"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    if shutil.which("update-alternatives") is None:
        pytest.skip("needs update-alternatives")
    root = tmp_path / "root"
    for place in ("usr/bin", "opt", "etc/alternatives", "var/lib/dpkg/alternatives", "var/log"):
        (root / place).mkdir(parents=True)
    for program in ("one", "two"):
        (root / "opt" / program).touch(mode=0o755)
    monkeypatch.setenv("DPKG_ROOT", str(root))
    monkeypatch.setenv("DPKG_ADMINDIR", str(root / "var/lib/dpkg"))
    return Bench(tmp_path, alternatives, functions={"alternatives": functions})


def test_programs_are_offered_and_the_highest_priority_wins(bench: Bench) -> None:
    done = bench.change("install", NAME, link=LINK, path="/opt/one", priority=10)
    assert done.changes == {"name": NAME, "link": LINK, "path": "/opt/one", "priority": 10}
    done = bench.change("install", NAME, link=LINK, path="/opt/two", priority=20)
    assert done.data == {
        "link": LINK,
        "mode": "auto",
        "path": "/opt/two",
        "choices": {"/opt/one": 10, "/opt/two": 20},
        "slaves": {},
    }
    bench.change("install", NAME, link=LINK, path="/opt/one", priority=30)
    assert bench.salt["alternatives.show_current"](NAME) == "/opt/one"


def test_a_program_is_set_and_left_to_priorities_again(bench: Bench) -> None:
    for path, priority in (("/opt/one", 10), ("/opt/two", 20)):
        bench.change("install", NAME, link=LINK, path=path, priority=priority)
    assert bench.change("set", NAME, path="/opt/one").changes == {"path": "/opt/one"}
    assert bench.change("auto", NAME).changes == {"mode": {"old": "manual", "new": "auto"}}
    assert bench.change("remove", NAME, path="/opt/two").changes == {"path": "/opt/two"}
    bench.change("remove", NAME, path="/opt/one")
    bench.same("remove", NAME, path="/opt/one")


def test_links_that_go_along_are_set_and_stay(bench: Bench) -> None:
    page = {"saltern-t-editor.1": {"link": "/usr/bin/page", "path": "/opt/two"}}
    offer = {"link": LINK, "path": "/opt/one"}
    done = bench.change("install", NAME, **offer, priority=10, slaves=page)
    assert done.changes["slaves"] == {"saltern-t-editor.1": "/opt/two"}
    done = bench.change("install", NAME, **offer, priority=20)
    assert done.data["slaves"] == {"/opt/one": {"saltern-t-editor.1": "/opt/two"}}
    bench.change("install", NAME, **offer, priority=20, slaves={})
    assert bench.salt["alternatives.display"](NAME)["slaves"] == {}  # type: ignore[index]


@pytest.mark.parametrize(
    "slaves", [{"page": "/x"}, {"page": {"link": "/x"}}, {"p": {"link": "x", "path": "/y"}}]
)
def test_what_is_no_link_that_goes_along_is_refused(bench: Bench, slaves: dict[str, object]) -> None:
    offer = {"link": LINK, "path": "/opt/one", "priority": 10}
    told = bench.refusal("install", NAME, **offer, slaves=slaves)
    assert "slaves needs" in told or "absolute path" in told
    assert bench.call("install", NAME, test=True, **offer, slaves=slaves).comment == told


def test_red_hat_tells_followers_below_their_choice(tmp_path: Path) -> None:
    """Written after what chkconfig 1.2x prints; it cannot run here."""
    shown = (
        "java - status is auto.\n link currently points to /jvm/17/java\n/jvm/17/java - priority 17\n"
        " follower javac: /jvm/17/javac\n/jvm/8/java - family x priority 8\n slave javac: /jvm/8/javac\n"
        "Current `best' version is /jvm/17/java.\n"
    )
    host = ScriptedHost(
        {"update-alternatives --query": Ran(2), "update-alternatives --display": Ran(0, shown)}
    )
    bench = Bench(tmp_path, alternatives, host=host)
    assert bench.same("set", "java", path="/jvm/17/java").data == {
        "link": "",
        "mode": "auto",
        "path": "/jvm/17/java",
        "choices": {"/jvm/17/java": 17, "/jvm/8/java": 8},
        "slaves": {"/jvm/17/java": {"javac": "/jvm/17/javac"}, "/jvm/8/java": {"javac": "/jvm/8/javac"}},
    }


@pytest.mark.parametrize(
    ("fun", "name", "args", "words"),
    [
        ("set", "saltern-t-none", {"path": "/x"}, "does not exist"),
        ("auto", "saltern-t-none", {}, "does not exist"),
        ("install", NAME, {"link": "bin", "path": "/opt/one", "priority": 1}, "absolute path"),
        ("install", NAME, {"link": LINK, "path": "/opt/one", "priority": "high"}, "needs a number"),
        ("install", "a/b", {"link": LINK, "path": "/opt/one", "priority": 1}, "is a path"),
        ("auto", "--all", {}, "is not the name"),
    ],
)
def test_bad_input_is_refused(bench: Bench, fun: str, name: str, args: dict[str, object], words: str) -> None:
    assert words in bench.refusal(fun, name, **args)


def test_only_what_is_offered_can_be_set(bench: Bench) -> None:
    bench.change("install", NAME, link=LINK, path="/opt/one", priority=10)
    assert bench.refusal("set", NAME, path="/opt/two") == (
        f"/opt/two is not an alternative for {NAME}; the alternatives are /opt/one"
    )


def test_functions_look_and_change(bench: Bench) -> None:
    salt = bench.salt
    assert salt["alternatives.show_current"](NAME) is False
    assert salt["alternatives.install"](NAME, LINK, "/opt/one", 10) == ""
    assert salt["alternatives.show_link"](NAME) == LINK
    assert salt["alternatives.check_installed"](NAME, "/opt/one") is True
    assert salt["alternatives.check_exists"](NAME, "/opt/two") is False
    assert salt["alternatives.set"](NAME, "/opt/one") is True
    assert salt["alternatives.auto"](NAME) is True
    assert salt["alternatives.remove"](NAME, "/opt/one") == ""
    assert salt["alternatives.display"](NAME) == {}


DISPLAY = """editor - status is auto.
 link currently points to /usr/bin/vim
/usr/bin/nano - priority 10
 slave editor.1: /usr/share/man/man1/nano.1
/usr/bin/vim - family vi priority 50
Current `best' version is /usr/bin/vim.
"""


def test_the_program_of_red_hat_is_read(tmp_path: Path) -> None:
    """From a table, after the output of chkconfig's ``alternatives --display``."""
    answers = {"alternatives --query": Ran(2), "alternatives --display": Ran(0, DISPLAY)}
    bench = Bench(tmp_path, alternatives, host=ScriptedHost(answers))
    done = bench.same("set", "editor", path="/usr/bin/vim")
    assert done.data["choices"] == {"/usr/bin/nano": 10, "/usr/bin/vim": 50}
