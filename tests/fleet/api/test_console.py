"""What people look at: drafts, what waits for them, the calendar, equal answers, past events."""

from __future__ import annotations

import time

from tests.fleet.api.kit import Running, add_chain_run, add_events, add_job, add_return, add_system
from tests.fleet.api.test_library import ALWAYS, TEXT
from tests.fleet.api.test_permission import POLICY, logged_in, refused

from saltern.fleet.client.client import Client


def test_a_draft_is_changed_and_read_and_never_kept(client: Client) -> None:
    new = client.chains.draft("", verb="add", action={"id": "a", "command": "true"})
    assert new["text"] == "chain: new\nactions:\n- id: a\n  command: 'true'\n"
    more = client.chains.draft(new["text"], verb="add", index=1, action={"id": "b", "reboot": {}})
    moved = client.chains.draft(more["text"], verb="move", index=1, to=0)
    assert [(one["id"], one["segment"]) for one in moved["actions"]] == [("b", 1), ("a", 2)]
    wrong = client.chains.draft(
        moved["text"], verb="set", index=0, action={"id": "b", "reboot": {"stable": "2h"}}
    )
    (problem,) = wrong["problems"]
    assert (problem["line"], problem["field"], problem["repair"]) == (5, "stable", 7200)
    assert list(client.chains.list()) == []
    refused(409, "chain-file", client.chains.draft, "- 1", verb="remove")
    assert client.chains.draft("a: [")["problems"][0]["line"] == 1


def test_the_kinds_of_actions_have_what_a_form_needs(client: Client) -> None:
    kinds = {one["kind"]: one for one in client.chains.kinds()["kinds"]}
    assert kinds["reboot"]["barrier"] and "proves" in kinds["reboot"]["safety"]
    assert kinds["command"]["fields"][0] == {
        "name": "run", "type": "text", "required": True, "default": None, "choices": []
    }  # fmt: skip


def test_the_inbox_says_what_waits_and_for_whom(api: Running, client: Client) -> None:
    add_system(api.database, "new1", accept=False)
    add_system(api.database, "web1")
    add_chain_run(api.database, "r1", "web1")
    with api.database.write() as connection:
        connection.exec_driver_sql("UPDATE chain_gates SET expires = 4e9")
    client.policy.set(POLICY)
    joe = logged_in(api, client, "joe", "operator")
    ben = logged_in(api, client, "ben", "approver")
    refused(403, "needs-approval", joe.jobs.submit, "state.apply", "web*")
    kinds = {one["kind"]: one for one in ben.inbox()["items"]}
    assert set(kinds) == {"gate", "approval", "key"}
    assert kinds["approval"]["yours"] and kinds["approval"]["asked_by"] == "joe"
    assert kinds["gate"]["yours"] and kinds["gate"]["run"] == "r1" and kinds["gate"]["systems"] == 1
    assert (kinds["key"]["yours"], kinds["key"]["why_not"]) == (False, "the role admin is needed")
    assert ben.inbox()["yours"] == 2
    mine = {one["kind"]: one for one in joe.inbox()["items"]}
    assert mine["gate"]["why_not"] == "the role approver is needed"
    ben.approvals.approve(kinds["approval"]["id"])
    assert "approval" not in {one["kind"] for one in ben.inbox()["items"]}


def test_the_calendar_has_windows_and_what_is_planned(api: Running, client: Client) -> None:
    add_system(api.database, "web1")
    client.chains.save(TEXT)
    client.windows.set("always", ALWAYS, target="web*")
    client.schedules.set("nightly", "nightly", "30 2 * * *")
    client.schedules.set("often", "nightly", "* * * * *")
    sheet = client.windows.calendar(days=2, count=True)
    (row,) = sheet["calendars"]
    assert (row["name"], row["systems"]) == ("always", 1) and row["windows"]
    assert len([one for one in sheet["fires"] if one["schedule"] == "nightly"]) == 2
    assert sheet["more"] == ["often"]
    assert all(sheet["begin"] <= one["at"] < sheet["end"] for one in sheet["fires"])


def test_why_not_now_is_as_few_groups_as_differ(api: Running, client: Client) -> None:
    for name in ("web1", "web2", "db1", "web3"):
        add_system(api.database, name)
    with api.database.write() as connection:
        connection.exec_driver_sql("UPDATE systems SET online = 1 WHERE id != 'web3'")
    client.windows.set("freeze", ALWAYS, target="db*", kind="deny")
    found = client.windows.why("*")
    assert {one["state"]: one["some"] for one in found["groups"]} == {
        "open": ["web1", "web2"], "waits": ["db1"], "away": ["web3"]
    }  # fmt: skip
    assert found["systems"] == 4
    waits = next(one for one in found["groups"] if one["state"] == "waits")
    assert "freeze denies it" in waits["why"] and waits["calendars"] == ["freeze"]
    refused(404, "chain-unknown", client.windows.why, "*", chain="nowhere")


def test_equal_answers_are_one(api: Running, client: Client) -> None:
    names = tuple(f"web{n}" for n in range(1, 8))
    for name in names:
        add_system(api.database, name)
    add_job(api.database, "1", names)
    for name in names[:4]:
        add_return(api.database, "1", name, f'"I am {name}\\nand well"'.encode())
    add_return(api.database, "1", "web5", b'{"a": [1]}')
    add_return(api.database, "1", "web6", b"{{{")
    found = client.jobs.answers("1")
    assert [(one["systems"], one["text"]) for one in found["groups"]] == [
        (4, "I am web1\nand well"), (1, "a:\n- 1"), (1, "{{{")
    ]  # fmt: skip
    assert (found["expected"], found["answered"]) == (7, 6)
    (missing,) = found["missing"]
    assert (missing["systems"], missing["some"]) == (1, ["web7"])
    refused(404, "api-not-found", client.jobs.answers, "nothing")


def test_past_events_come_newest_first_and_are_counted(api: Running, client: Client) -> None:
    add_events(api.database, *(f"a/b/{n}" for n in range(7)), "a%/b", "c/d")
    tags = [one["tag"] for one in client.history(tag="a/b/*", limit=2)]
    assert tags == [f"a/b/{n}" for n in reversed(range(7))]
    assert [one["tag"] for one in client.history(tag="a%*")] == ["a%/b"]
    counts = client.history_counts(1, 9, parts=2)
    assert counts["counts"]["other"] == [0, 9] and counts["total"] == 9
    assert client.history_counts(6, 10)["total"] == 0
    assert list(client.history(since=time.time())) == []
