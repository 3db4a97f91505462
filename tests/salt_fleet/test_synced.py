"""``_states`` and ``_modules`` that Salt has synchronised are those of a run of saltern."""

from __future__ import annotations

import pytest
from tests.salt_fleet.conftest import Salt

pytestmark = [pytest.mark.timeout(600), pytest.mark.xdist_group("salt-fleet")]

MODULE = """\
def word(name):
    return f"{name} {__grains__['id']} {__opts__['colour']} {__pillar__['who']}"

def both():
    return __salt__["greeting.word"]("both")
"""
STATE = """\
def said(name, word):
    changes = {"said": __salt__["greeting.word"](word)}
    if __opts__["test"]:
        return {"name": name, "result": None, "changes": changes, "comment": "would be said"}
    return {"name": name, "result": True, "changes": changes, "comment": "said"}
"""
SLS = "{{ salt['greeting.both']() }}:\n  greeting.said: [{word: hello}]\n"


def test_a_state_and_a_function_of_the_user(fleet: Salt) -> None:
    fleet.write("_modules/greeting.py", MODULE)
    fleet.write("_states/greeting.py", STATE)
    fleet.write("greets.sls", SLS)
    synced = fleet.ask("web1", "saltutil.sync_all")["web1"]
    assert "modules.greeting" in synced["modules"] and "states.greeting" in synced["states"]
    for words, result in ((["test=True"], None), ([], True)):
        theirs, ours = (
            fleet.ask("web1", function, "greets", *words)["web1"]
            for function in ("state.apply", "saltern.apply")
        )
        (state,) = ours.values()
        assert list(ours) == list(theirs) == ["greeting_|-both web1 red web1_|-both web1 red web1_|-said"]
        assert (state["result"], state["changes"]) == (result, {"said": "hello web1 red web1"})


def test_what_was_not_synchronised_yet_is_if_asked_for_and_before_a_highstate(fleet: Salt) -> None:
    """As ``state.apply`` does it, unless ``autoload_dynamic_modules`` is off."""
    fleet.write("_states/newer.py", STATE.replace("greeting.word", "test.echo"))
    fleet.write("newer_state.sls", "it:\n  newer.said: [{word: hello}]\n")
    for function in ("state.apply", "saltern.apply"):
        found = fleet.ask("web2", function, "newer_state")["web2"]
        assert "newer.said" in str(found) and "'result': True" not in str(found), found
    (state,) = fleet.ask("web2", "saltern.apply", "newer_state", "sync_mods=states")["web2"].values()
    assert state["changes"] == {"said": "hello"}
    assert "no modules of the kind 'state'" in str(
        fleet.ask("web2", "saltern.apply", "newer_state", "sync_mods=state")
    )
    fleet.write("top.sls", "base:\n  web3: [newer_state]\n")
    try:
        (state,) = fleet.ask("web3", "saltern.apply")["web3"].values()
    finally:
        (fleet.place / "states" / "top.sls").unlink()
    assert state["changes"] == {"said": "hello"}
