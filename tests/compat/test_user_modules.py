"""Modules in the user's own tree, from the SLS file to the result."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.compat.conftest import MakeWorld

from saltern.compat.grains import custom_grains
from saltern.compat.pillar import ext_pillar
from saltern.compat.pillars.ports import Asked
from saltern.compat.renderers import renderer
from saltern.language.diagnostics import PillarError
from saltern.language.result import Outcome
from saltern.modules.api.unknown_names import unknown_function

HERE = Asked(
    id="here",
    pillar={},
    opts={},
    grains={},
    template=lambda _path, _values: "",
    data=lambda text, _pipe: text,
    compiled=lambda _roots: {},
    groups=lambda _name: False,
)

THING = '''
"""Things."""
import salt.utils.files
from salt.exceptions import CommandExecutionError

__virtualname__ = "thing"

def __virtual__():
    return __virtualname__

def present(name, content="", saltenv=None, **kwargs):
    """Make a thing."""
    ret = {"name": name, "result": True, "changes": {}, "comment": "already there"}
    if __salt__["thing.read"](name) == content:
        return ret
    ret["changes"] = {name: {"old": None, "new": content}}
    if __opts__["test"]:
        ret["result"] = None
        ret["comment"] = "would be made"
        return ret
    with salt.utils.files.fopen(name, "w") as handle:
        handle.write(content)
    ret["comment"] = "made"
    return ret

def broken(name):
    raise CommandExecutionError("the thing said no")

def crashing(name):
    return {}["nothing"]

def mod_watch(name, sfun=None, **kwargs):
    return {"name": name, "result": True, "changes": {"by": sfun}, "comment": "reacted"}
'''
THING_MODULE = '''
import os
__virtualname__ = "thing"
__func_alias__ = {"list_": "list"}

def read(path):
    """What a thing says."""
    if not os.path.exists(path):
        return None
    with open(path) as handle:
        return handle.read()

def list_():
    return sorted(__context__)

def _private():
    return 1
'''
FILES = {"_states/thingmod.py": THING, "_modules/thing_execution.py": THING_MODULE}


def test_a_state_of_the_users_own_changes_then_does_not_and_test_mode_foretells(
    world: MakeWorld, tmp_path: Path
) -> None:
    path = str(tmp_path / "thing")
    files = {**FILES, "main.sls": f"one:\n  thing.present:\n    - name: {path}\n    - content: hello\n"}
    foretold = world(files, test=True).apply()["one"]
    assert foretold.outcome is Outcome.WOULD_CHANGE
    done = world({}).apply()["one"]
    assert (done.outcome, done.comment, done.changes) == (Outcome.OK, "made", foretold.changes)
    again = world({}).apply()["one"]
    assert (again.comment, again.changes) == ("already there", {})
    assert "provider" not in again.extra


def test_a_function_of_the_users_own_is_there_for_templates_under_its_alias(world: MakeWorld) -> None:
    one = world({**FILES, "main.sls": "a:\n  test.nop:\n    - x: {{ salt['thing.list']() | length }}\n"})
    assert one.apply()["a"].outcome is Outcome.OK
    assert one.session.salt.get("thing._private") is None
    assert one.session.salt.get("thing.list_") is None


def test_salts_exceptions_are_plain_words_and_others_name_the_place(world: MakeWorld) -> None:
    results = world({**FILES, "main.sls": "a:\n  thing.broken: []\nb:\n  thing.crashing: []\n"}).apply()
    assert (results["a"].outcome, results["a"].comment) == (Outcome.FAILED, "the thing said no")
    assert "thing.crashing failed: KeyError" in results["b"].comment
    assert "thingmod.py:" in results["b"].comment


def test_a_module_that_watches_reacts(world: MakeWorld) -> None:
    sls = (
        "a:\n  test.succeed_with_changes: []\n"
        "b:\n  thing.present:\n    - name: /nonexistent/saltern-t\n    - content: null\n"
        "    - watch:\n      - test: a\n"
    )
    result = world({**FILES, "main.sls": sls}).apply()["b"]
    assert (result.comment, result.changes) == ("reacted", {"by": "present"})


def test_unknown_and_missing_arguments_are_reported_before_the_run(world: MakeWorld) -> None:
    state = "def present(name, needed):\n    return {}\n"
    one = world({"_states/strict.py": state, "main.sls": "a:\n  strict.present:\n    - nedeed: 1\n"})
    result = one.apply()["a"]
    assert result.outcome is Outcome.FAILED
    assert "no argument is called 'nedeed'; did you mean 'needed'?" in result.comment
    assert "argument 'needed' is missing" in result.comment


def test_a_module_that_refuses_says_why(world: MakeWorld) -> None:
    state = "def __virtual__():\n    return False, 'needs a flux capacitor'\ndef present(name):\n    pass\n"
    result = world({"_states/flux.py": state, "main.sls": "a:\n  flux.present: []\n"}).apply()["a"]
    assert result.outcome is Outcome.FAILED
    assert "needs a flux capacitor" in result.comment


def test_a_module_with_a_mistake_is_named_with_its_line_and_hides_the_built_in(world: MakeWorld) -> None:
    result = world({"_states/test.py": "def nop(name)\n", "main.sls": "a:\n  test.nop: []\n"}).apply()["a"]
    assert result.outcome is Outcome.FAILED
    assert "_states/test.py:1: not Python" in result.comment


def test_the_users_module_wins_over_the_built_in_and_leaves_it_the_rest(world: MakeWorld) -> None:
    state = "def nop(name):\n    return dict(name=name, result=True, changes={}, comment='mine')\n"
    sls = "a:\n  test.nop: []\nb:\n  test.succeed_without_changes: []\n"
    results = world({"_states/test.py": state, "main.sls": sls}).apply()
    assert results["a"].comment == "mine"
    assert results["b"].outcome is Outcome.OK


def test_states_call_states_and_functions_of_ours(world: MakeWorld, tmp_path: Path) -> None:
    state = """
def both(name):
    ret = __states__["file.managed"](name, contents="x", makedirs=True)
    ret["comment"] = __salt__["cmd.run"]("echo said") + " " + __salt__.test.echo("too")
    return ret
def wrong(name):
    return __states__["file.replace"](name, patern="x", repl="y")
def none(name):
    __salt__["no.such"]()
"""
    path = tmp_path / "deep" / "file"
    sls = f"a:\n  multi.both:\n    - name: {path}\nb:\n  multi.wrong: []\nc:\n  multi.none: []\n"
    results = world({"_states/multi.py": state, "main.sls": sls}).apply()
    assert results["a"].comment == "said too"
    assert results["a"].changes and path.read_text() == "x\n"
    assert "did you mean 'pattern'?" in results["b"].comment
    assert "'no.such' is not available: no module is called 'no'" in results["c"].comment


def test_a_problem_of_ours_is_an_exception_they_know(world: MakeWorld) -> None:
    module = """
from salt.exceptions import CommandExecutionError
def tried():
    try:
        return __salt__["cmd.run"]("/saltern-t-none/program")
    except CommandExecutionError as problem:
        return f"caught {problem}"
"""
    assert world({"_modules/trying.py": module}).call("trying.tried").startswith("caught cannot run")


def test_every_poured_in_name_is_that_of_the_call(world: MakeWorld) -> None:
    state = """
def seen(name, **kwargs):
    data = {
        "opts": [__opts__["test"], __opts__["id"], __opts__.get("nothing", 7), "cachedir" in __opts__],
        "grains": __grains__["id"], "pillar": __pillar__["told"], "env": __env__, "low": __low__["__id__"],
        "running": sorted(__running__), "proxy": bool(__proxy__), "kwargs": sorted(kwargs),
        "name": __name__.rsplit(".", 2)[1:], "utils": __utils__["own.twice"](2),
        "shim": __utils__["data.is_true"]("yes"), "grains_copy": __grains__.get("id"),
    }
    __context__["seen"] = True
    __opts__["test"] = "changed for this call only"
    return {"name": name, "result": True, "changes": {}, "comment": "", "data": data}
"""
    sls = "first:\n  test.nop: []\na:\n  peek.seen:\n    - other: 1\n    - order: last\nb:\n  peek.seen: []\n"
    files = {"_states/peek.py": state, "_utils/own.py": "def twice(x):\n    return 2 * x\n", "main.sls": sls}
    one = world(files)
    results = one.apply()
    data = results["a"].data
    assert data["opts"] == [False, "here", 7, True]
    assert (data["grains"], data["pillar"], data["env"], data["low"]) == ("here", "yes", "base", "a")
    assert data["running"] == ["peek_|-b_|-b_|-seen", "test_|-first_|-first_|-nop"]
    assert (data["proxy"], data["kwargs"], data["name"]) == (False, ["other"], ["states", "peek"])
    assert (data["utils"], data["shim"]) == (4, True)
    assert results["b"].data["opts"] == [False, "here", 7, True]
    assert one.session.run.context["seen"] is True


def test_two_runs_in_one_process_share_nothing(world: MakeWorld) -> None:
    module = """
COUNT = []
def count():
    COUNT.append(1)
    __context__["count"] = len(COUNT)
    return [len(COUNT), __opts__["id"], __context__["count"]]
def through(other):
    return [other(), __opts__["id"]]
"""
    one, two = world({"_modules/counter.py": module}), world({}, id="there")
    assert one.call("counter.count") == [1, "here", 1]
    assert one.call("counter.count") == [2, "here", 2]
    assert two.call("counter.count") == [1, "there", 1]
    nested = one.call("counter.through", lambda: two.call("counter.count"))
    assert nested == [[2, "there", 2], "here"]
    assert not [name for name in sys.modules if name == "salt" or name.startswith(("salt.", "counter"))]


def test_modules_import_what_lies_beside_them_and_among_the_utils(world: MakeWorld) -> None:
    files = {
        "_modules/outer.py": "import beside\nimport shared\ndef both():\n    return [beside.A, shared.B]\n",
        "_modules/beside.py": "A = 1\n",
        "_utils/shared.py": "B = 2\n",
        "_modules/pack/__init__.py": "from . import inner\nfrom .inner import C\n"
        "def c():\n    return [inner.C, C]\n",
        "_modules/pack/inner.py": "C = 3\n",
        "_modules/lost.py": "import saltern_t_no_such_library\ndef f():\n    pass\n",
        "_modules/much.py": "import salt.client\ndef f():\n    pass\n",
    }
    one = world(files)
    assert one.call("outer.both") == [1, 2]
    assert one.call("pack.c") == [3, 3]
    assert one.session.salt.get("lost.f") is None
    assert "saltern_t_no_such_library" in unknown_function(one.registry, "lost.f")
    assert one.session.salt.get("much.f") is None
    assert "saltern does not include 'salt.client'" in unknown_function(one.registry, "much.f")


def test_mod_init_is_asked_until_it_is_done_and_init_once(world: MakeWorld) -> None:
    state = """
ASKED = []
def __init__(opts):
    ASKED.append(opts["id"])
def mod_init(low):
    ASKED.append(low["__id__"])
    return len(ASKED) > 2
def told(name):
    return dict(name=name, result=True, changes={}, comment=" ".join(ASKED))
"""
    sls = "a:\n  begin.told: []\nb:\n  begin.told: []\nc:\n  begin.told: []\n"
    results = world({"_states/begin.py": state, "main.sls": sls}).apply()
    assert [results[one].comment for one in "abc"] == ["here a", "here a b", "here a b"]


def test_a_module_may_do_several_states_in_one_go(world: MakeWorld) -> None:
    state = """
def done(name, items=(), **kwargs):
    return dict(name=name, result=True, changes={}, comment=",".join(items or [name]))
def mod_aggregate(low, chunks, running):
    low["items"] = [chunk["name"] for chunk in chunks if chunk["fun"] == low["fun"]]
    return low
def mod_run_check(cmd_kwargs, onlyif, unless, creates):
    return True
"""
    sls = "a:\n  group.done: []\nb:\n  group.done: []\n"
    one = world({"_states/group.py": state, "main.sls": sls}, state_aggregate=True)
    results = one.apply()
    assert [results[name].comment for name in "ab"] == ["a,b", "b"]
    assert one.session.caller.guarded_by_itself("group")


def test_extension_modules_and_module_dirs_are_looked_at_after_the_roots(
    world: MakeWorld, tmp_path: Path
) -> None:
    for place, folder in (("ext", "modules"), ("more", "_modules"), ("more", "modules")):
        (tmp_path / place / folder).mkdir(parents=True)
    (tmp_path / "ext" / "modules" / "one.py").write_text("def where():\n    return 'ext'\n")
    (tmp_path / "more" / "_modules" / "one.py").write_text("def where():\n    return 'more'\n")
    (tmp_path / "more" / "_modules" / "two.py").write_text("def where():\n    return 'more'\n")
    (tmp_path / "more" / "modules" / "three.py").write_text("def where():\n    return 'more'\n")
    files = {"_modules/three.py": "def where():\n    return 'root'\n"}
    one = world(files, extension_modules=str(tmp_path / "ext"), module_dirs=[str(tmp_path / "more")])
    assert [one.call(f"{name}.where") for name in ("one", "two", "three")] == ["ext", "more", "root"]


def test_grains_renderers_and_pillar_of_the_users_own(world: MakeWorld) -> None:
    files = {
        "_grains/colour.py": "def colour():\n    return {'colour': {'car': 'red'}}\n"
        "def more(grains):\n    return {'colour': {'house': grains['colour']['car']}}\n"
        "def wrong():\n    return 1 / 0\ndef odd():\n    return 'x'\n",
        "_renderers/shout.py": "from io import StringIO\n"
        "def render(data, saltenv='base', sls='', argline='', **kw):\n"
        "    return StringIO(data.upper() + argline)\n",
        "_pillar/more.py": "def ext_pillar(minion_id, pillar, *args, **kwargs):\n"
        "    if args == ('fail',):\n        raise ValueError('no such store')\n"
        "    return {'from': [minion_id, list(args), kwargs], 'kept': pillar['a']}\n",
    }
    one = world(files)
    found, problems = custom_grains(one.library)
    assert found == {"colour": {"car": "red", "house": "red"}}
    assert len(problems) == 2 and "ZeroDivisionError" in "".join(problems)
    shout = renderer(one.library, "shout")
    assert shout is not None and shout("abc", argline="-x") == "ABC-x"
    assert renderer(one.library, "whisper") is None
    made = ext_pillar(one.library, [{"more": ["x"]}], {"a": 1}, asked=HERE)
    assert made == {"a": 1, "kept": 1, "from": ["here", ["x"], {}]}
    for wrong, said in (
        ({"more": "fail"}, "no such store"),
        ({"less": 1}, "no ext_pillar"),
        ("more", "needs a list"),
    ):
        with pytest.raises(PillarError, match=said):
            ext_pillar(one.library, [wrong], {"a": 1}, asked=HERE)


def test_what_was_refused_is_asked_again_after_a_state_may_have_brought_it(
    world: MakeWorld, tmp_path: Path
) -> None:
    marker = tmp_path / "installed"
    module = (
        f"import os\ndef __virtual__():\n    return os.path.exists({str(marker)!r})\ndef f():\n    return 1\n"
    )
    one = world({"_modules/late.py": module})
    assert one.session.salt.get("late.f") is None
    marker.touch()
    one.library.forget()
    one.registry.forget()
    assert one.call("late.f") == 1
