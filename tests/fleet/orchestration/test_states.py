"""``saltern orchestrate`` with real agents: what each state of an orchestration comes to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.fleet.orchestration.kit import Site, site

FILES = {
    "plain.sls": "first:\n  test.succeed_with_changes\n\n"
    "second:\n  test.nop:\n    - require:\n      - test: first\n",
    "quiet.sls": "nothing:\n  test.nop\n",
    "wrong.sls": "disk:\n  test.fail_without_changes:\n    - comment: no disk\n",
    "half.sls": "{% if grains['id'] == 'web2' %}\nbad:\n  test.fail_without_changes\n"
    "{% else %}\ngood:\n  test.succeed_with_changes\n{% endif %}\n",
    "other.sls": "base:\n  web1:\n    - plain\n  web2:\n    - quiet\n",
    "orch/top.sls": "by top:\n  salt.state:\n    - tgt: 'web*'\n    - top: other.sls\n",
    "orch/both.sls": "ping:\n  salt.function:\n    - name: test.ping\n    - tgt: '*'\n\n"
    "site:\n  salt.state:\n    - tgt: 'web*'\n    - sls: plain\n    - require:\n      - salt: ping\n",
    "orch/wrong.sls": "bad:\n  salt.state:\n    - tgt: web1\n    - sls: wrong\n\n"
    "after:\n  salt.function:\n    - name: test.ping\n    - tgt: web1\n    - require:\n      - salt: bad\n\n"
    "help:\n  salt.function:\n    - name: test.ping\n    - tgt: web2\n    - onfail:\n      - salt: bad\n",
    "orch/allowed.sls": "one may:\n  salt.state:\n    - tgt: 'web*'\n    - sls: half\n    - allow_fail: 1\n\n"
    "that may:\n  salt.state:\n    - tgt: 'web*'\n    - sls: half\n    - fail_minions: web2\n    - require:\n"
    "      - salt: one may\n\nnone may:\n  salt.state:\n    - tgt: 'web*'\n    - sls: half\n",
    "orch/nobody.sls": "empty:\n  salt.state:\n    - tgt: db*\n    - sls: plain\n\n"
    "fine:\n  salt.state:\n    - tgt: db*\n    - sls: plain\n    - expect_minions: false\n\n"
    "function:\n  salt.function:\n    - name: test.ping\n    - tgt: db*\n",
    "orch/quiet.sls": "quiet:\n  salt.state:\n    - tgt: 'web*'\n    - sls: quiet\n\n"
    "then:\n  test.nop:\n    - onchanges:\n      - salt: quiet\n",
    "orch/value.sls": "cmd.run:\n  salt.function:\n    - tgt: web1\n    - arg: [echo from web1]\n"
    "    - register: said\n\nshow:\n  salt.function:\n    - name: test.echo\n    - tgt: web2\n"
    "    - arg:\n      - '{{ register.said.changes.ret.web1 }}'\n",
}


@pytest.fixture(scope="module")
def here() -> Iterator[Site]:
    with site(("web1", "web2"), FILES) as found:
        yield found


def test_each_system_is_a_sub_state_with_its_states_below_it(here: Site) -> None:
    below = here.below("orch.both")
    assert sorted(below["ping"]) == ["web1", "web2"] == sorted(below["site"])
    assert below["web1"] == ["first", "second"] == below["web2"]


def test_results_and_comments_are_those_of_salt(here: Site) -> None:
    code, found = here.orchestrate("orch.both")
    assert code == 0
    assert found["ping"]["comment"] == "Function ran successfully. Function test.ping ran on web1, web2."
    assert found["ping"]["changes"] == {"ret": {"web1": True, "web2": True}}
    assert found["site"]["comment"] == "States ran successfully. Updating web1, web2."
    assert found["site"]["__jid__"]


def test_a_system_that_fails_fails_the_state_and_what_requires_it(here: Site) -> None:
    code, found = here.orchestrate("orch.wrong")
    assert code == 2
    assert found["bad"]["comment"].startswith("Run failed on minions: web1")
    assert found["after"]["__state_ran__"] is False
    assert found["help"]["result"] is True


def test_failures_that_are_allowed_are_none(here: Site) -> None:
    code, found = here.orchestrate("orch.allowed")
    assert [found[id_]["result"] for id_ in ("one may", "that may", "none may")] == [True, True, False]
    assert code == 2


def test_a_target_without_systems(here: Site) -> None:
    _, found = here.orchestrate("orch.nobody")
    assert (found["empty"]["result"], found["empty"]["comment"]) == (False, "No minions returned")
    assert found["fine"]["result"] is True
    assert (found["function"]["result"], found["function"]["comment"]) == (False, "No minions responded")


def test_systems_without_changes_change_nothing(here: Site) -> None:
    _, found = here.orchestrate("orch.quiet")
    assert found["quiet"]["changes"] == {}
    assert found["then"]["__state_ran__"] is False


def test_a_top_file_of_another_name(here: Site) -> None:
    below = here.below("orch.top")
    assert (below["web1"], below["web2"]) == (["first", "second"], ["nothing"])


def test_in_test_mode_the_systems_run_in_test_mode(here: Site) -> None:
    code, found = here.orchestrate("orch.both", "--test")
    assert code == 0
    assert found["ping"]["comment"] == "Function test.ping would be executed on target *"
    assert (found["ping"]["result"], found["site"]["result"]) == (None, None)


def test_jobs_of_an_orchestration_are_below_it_in_the_tree(here: Site) -> None:
    assert here.orchestrate("orch.both")[0] == 0
    newest = next(row for row in here.data("jobs") if row["function"] == "state.orchestrate")
    tree = here.data("job", newest["jid"], "--tree")
    assert tree["args"] == ["orch.both"]
    assert [one["function"] for one in tree["children"]] == ["test.ping", "state.apply"]
    lines = here.run("job", newest["jid"], "--tree").stdout.splitlines()
    assert [line.startswith("  ") for line in lines] == [False, True, True]


def test_the_report_of_an_orchestration_is_kept_by_the_controller(here: Site) -> None:
    assert here.orchestrate("orch.wrong")[0] == 2
    newest = next(row for row in here.data("jobs") if row["function"] == "state.orchestrate")
    report = here.data("job", newest["jid"])
    states = next(iter(report.values()))
    assert any(one["__id__"] == "bad" and one["result"] is False for one in states.values())


def test_a_job_may_ask_for_an_event_of_each_state(here: Site) -> None:
    words = ("state.apply", "plain", "state_events=true", "sync_mods=states", "--on", "web1")
    assert here.run("call", *words).returncode == 0
    jid = next(row["jid"] for row in here.data("jobs") if row["function"] == "state.apply")

    def found() -> list[dict[str, Any]]:
        with here.fleet.client() as client:
            return list(client.events(after=0, tag=f"salt/job/{jid}/prog/web1/*"))

    here.fleet.wait("the events of the states", lambda: len(found()) == 2)
    assert [row["data"]["data"]["ret"]["__id__"] for row in found()] == ["first", "second"]
    assert {row["data"]["data"]["len"] for row in found()} == {2}
