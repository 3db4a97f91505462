"""What a user's module finds in its globals, and what saltern reads there."""

from __future__ import annotations

import os
import pwd
import sys

from tests.compat.conftest import MakeWorld
from tests.kit import run_sls

from saltern.language.result import Outcome
from saltern.modules.api.unknown_names import unknown_function


def test_the_whole_run_and_who_runs_it_are_poured_in(world: MakeWorld) -> None:
    state = """
from copy import deepcopy
def seen(name):
    data = {
        "ids": [low["__id__"] for low in __lowstate__],
        "states": [low["state"] for low in __lowstate__],
        "first": __lowstate__[0]["fun"],
        "size": len(__lowstate__),
        "copied": deepcopy(__lowstate__)[1]["name"],
        "user": __user__,
    }
    return dict(name=name, result=True, changes={}, comment="", data=data)
"""
    sls = "a:\n  test.nop: []\nb:\n  peek.seen: []\n"
    data = world({"_states/peek.py": state, "main.sls": sls}).apply()["b"].data
    assert data["ids"] == ["a", "b"]
    assert (data["first"], data["size"], data["copied"]) == ("nop", 2, "b")
    assert data["states"] == ["test", "peek"]
    assert data["user"] == pwd.getpwuid(os.geteuid()).pw_name


def test_the_user_of_the_configuration_is_the_user(world: MakeWorld) -> None:
    one = world({"_modules/who.py": "def is_it():\n    return __user__\n"}, extra={"user": "operator"})
    assert one.call("who.is_it") == "operator"


def test_a_module_reaches_the_globals_of_another_as_modules_of_salt_do(world: MakeWorld) -> None:
    """Salt's own states for groups and keys do: through the name of the module of a function."""
    state = """
import sys
def done(name):
    for fun in ("test.ping", "mine.f"):
        sys.modules[__salt__[fun].__module__].__context__["seen"] = fun
    own = sys.modules[__name__].__file__.rpartition("/")[2]
    return dict(name=name, result=True, changes={}, comment=f"{own} {__context__['seen']}")
"""
    files = {
        "_states/reach.py": state,
        "_modules/mine.py": "def f():\n    pass\n",
        "main.sls": "a:\n  reach.done: []\n",
    }
    result = world(files).apply()["a"]
    assert (result.outcome, result.comment) == (Outcome.OK, "reach.py mine.f")
    assert not [name for name in sys.modules if name.startswith("salt.")]


def test_an_outputter_is_accepted_and_is_no_function(world: MakeWorld) -> None:
    one = world({"_modules/told.py": "__outputter__ = {'f': 'txt'}\ndef f():\n    return 'x'\n"})
    assert one.call("told.f") == "x"
    assert one.registry.members("functions", "told") == ["f"]


def test_an_initialiser_runs_once_with_the_options_and_what_it_raises_is_reported(world: MakeWorld) -> None:
    good = "SEEN = []\ndef __init__(opts):\n    SEEN.append(opts['id'])\ndef seen():\n    return SEEN\n"
    bad = "def __init__(opts):\n    raise ValueError('no licence')\ndef f():\n    pass\n"
    one = world({"_modules/good.py": good, "_modules/bad.py": bad})
    assert one.call("good.seen") == ["here"]
    assert one.call("good.seen") == ["here"]
    assert one.session.salt.get("bad.f") is None
    assert "bad.py: __init__ failed: no licence" in unknown_function(one.registry, "bad.f")


def test_a_module_with_a_run_check_is_asked_itself(world: MakeWorld) -> None:
    """Salt leaves ``onlyif`` and ``unless`` to such a module, so here they do not hold the state back."""
    state = """
def done(name, onlyif=None, unless=None):
    return dict(name=name, result=True, changes={}, comment=f"{onlyif} {unless}")
def mod_run_check(cmd_kwargs, onlyif, unless, creates):
    return True
"""
    sls = "a:\n  guard.done:\n    - onlyif: 'false'\nb:\n  test.nop:\n    - onlyif: 'false'\n"
    results = world({"_states/guard.py": state, "main.sls": sls}).apply()
    assert results["a"].comment == "false None"
    assert "onlyif" in results["b"].comment


def test_a_beacon_of_a_module_is_no_state(world: MakeWorld) -> None:
    state = """
def done(name, **kwargs):
    return dict(name=name, result=True, changes={}, comment="done")
def mod_beacon(name, **kwargs):
    return dict(name=name, result=True, changes={}, comment="watched")
"""
    sls = "a:\n  lamp.done:\n    - beacon: true\n"
    one = world({"_states/lamp.py": state, "main.sls": sls})
    assert one.apply()["a"].comment == "done"
    assert one.registry.members("states", "lamp") == ["done"]
    assert one.registry.state("lamp", "mod_beacon") is None


def test_no_global_is_shared_between_two_runs_in_one_process() -> None:
    files = {
        "_states/count.py": "import shared\nHERE = []\ndef done(name):\n"
        "    HERE.append(name); shared.THERE.append(name); __context__.setdefault('k', []).append(name)\n"
        "    __opts__['mark'] = 1; __grains__['mark'] = 1\n"
        "    told = [len(HERE), len(shared.THERE), len(__context__['k']), __salt__['count.up']()]\n"
        "    return dict(name=name, result=True, changes={}, comment=str(told))\n",
        "_modules/count.py": "UP = []\ndef up():\n    UP.append(1)\n    return len(UP)\n",
        "_utils/shared.py": "THERE = []\n",
        "main.sls": "a:\n  count.done: []\nb:\n  count.done: []\n",
    }
    for _ in range(2):
        comments = [answer.result.comment for answer in run_sls(files).answers]
        assert comments == ["[1, 1, 1, 1]", "[2, 2, 2, 2]"]
    assert not [name for name in sys.modules if name.startswith("salt.") or name == "shared"]
