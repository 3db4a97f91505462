"""What a run sends to the event bus of the master and asks of its mine: the same as ``state.apply``."""

from __future__ import annotations

from typing import Any

import pytest
from tests.salt_fleet.conftest import Salt

pytestmark = [pytest.mark.timeout(600), pytest.mark.xdist_group("salt-fleet")]

STATES = """\
good:
  test.succeed_with_changes: []
wrong:
  test.fail_without_changes: []
next:
  test.nop: [{require: [{test: wrong}]}]
named:
  test.nop: [{fire_event: shop/named}]
plain:
  test.nop: [{fire_event: true}]
"""
OF_EACH_RUN = {"duration", "start_time", "__state_ran__", "comment"}
ADDED = {"__where__", "root_cause"}  # by saltern, to what Salt returns for a state
FUNCTIONS = ("state.apply", "saltern.apply")


def of_states(heard: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    """The events of states, without what differs between any two runs and what saltern adds."""
    found = []
    for tag, data in heard:
        if "/prog/" in tag or "/state_result/" in tag:
            ret = data["data"].pop("ret")
            ret = {key: value for key, value in ret.items() if key not in OF_EACH_RUN | ADDED}
            assert data["jid"].isdigit() and data.pop("_stamp") and data.pop("ts", 1)
            found.append((tag, {**data, "jid": "", "tag": "", "ret": ret}))
    return found


def test_each_state_has_an_event_if_the_minion_or_the_job_wants_it(fleet: Salt) -> None:
    fleet.write("heard.sls", STATES)
    theirs, ours = (of_states(fleet.heard("web3", one, "heard")) for one in FUNCTIONS)
    assert [tag for tag, _ in ours] == [
        *(f"salt/job/JID/prog/web3/{number}" for number in range(3)),
        "salt/state_result/JID/web3/shop/named",
        "salt/state_result/JID/web3/plain",
    ]
    assert ours == theirs
    asked = of_states(fleet.heard("web2", "saltern.apply", "heard", "state_events=True", "test=True"))
    assert [tag for tag, _ in asked][:3] == [f"salt/job/JID/prog/web2/{number}" for number in range(3)]


def test_without_the_option_only_those_that_ask_for_it_have_one(fleet: Salt) -> None:
    fleet.write("heard.sls", STATES)
    theirs, ours = (of_states(fleet.heard("web1", one, "heard")) for one in FUNCTIONS)
    assert len(ours) == 2 and ours == theirs


def test_a_state_sends_an_event_of_its_own(fleet: Salt) -> None:
    fleet.write("sent.sls", "shop/deployed:\n  event.send: [{data: {version: 3}}]\n")
    found = [
        [data["data"] for tag, data in fleet.heard("web1", one, "sent") if tag == "shop/deployed"]
        for one in FUNCTIONS
    ]
    assert [one["version"] for one in found[1]] == [3]
    assert [set(one) for one in found[0]] == [set(one) for one in found[1]]


def test_templates_read_the_mine_of_the_master(fleet: Salt) -> None:
    fleet.ask("web2", "mine.send", "word", "mine_function=test.echo", "hello")
    fleet.write(
        "mined.sls",
        "word {{ salt['mine.get']('web*', 'word').web2 }}:\n  test.nop: []\n"
        "{{ salt['mine.get']('web2', ['word', 'other'], 'list').word.web2 }} word:\n  test.nop: []\n",
    )
    theirs, ours = (list(fleet.ask("web1", one, "mined")["web1"]) for one in FUNCTIONS)
    assert [tag.split("_|-")[1] for tag in ours] == ["word hello", "hello word"] and ours == theirs
