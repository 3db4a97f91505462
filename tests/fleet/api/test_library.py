"""Chains as objects, maintenance windows and schedules, as people ask for them."""

from __future__ import annotations

from tests.fleet.api.kit import Running
from tests.fleet.api.test_permission import logged_in, refused

from saltern.fleet.client.client import Client

TEXT = "chain: nightly\nactions:\n  - {id: a, command: 'true', targets: ['web*']}\n"
NEWER = TEXT + "  - {id: b, reboot: {}}\n"
WINDOW = """\
BEGIN:VCALENDAR
BEGIN:VEVENT
DTSTART:20200104T020000
DTEND:20200104T060000
RRULE:FREQ=WEEKLY;BYDAY=SA,SU
END:VEVENT
END:VCALENDAR
"""
ALWAYS = (
    WINDOW.replace("DTEND:20200104T060000", "DURATION:P1D")
    .replace(";BYDAY=SA,SU", "")
    .replace("WEEKLY", "DAILY")
)


def test_a_chain_is_made_and_changed_by_versions(client: Client) -> None:
    assert client.chains.save(TEXT, note="first")["number"] == 1
    assert client.chains.save(TEXT)["number"] == 1, "the same text is no new version"
    assert client.chains.save(NEWER, base=1)["number"] == 2
    assert client.chains.text("nightly", 1)["text"] == TEXT
    assert [one["number"] for one in client.chains.versions("nightly")] == [1, 2]
    assert client.chains.diff("nightly")["lines"][-1] == "+  - {id: b, reboot: {}}"
    (listed,) = client.chains.list()
    assert (listed["name"], listed["version"]) == ("nightly", 2)
    problem = refused(409, "chain-edited", client.chains.save, TEXT + "# mine\n", base=1)
    assert "version 2" in str(problem)
    assert [one["action"] for one in client.audit.list()].count("chain.save") == 2


def test_a_text_that_is_wrong_is_refused_with_its_line(client: Client) -> None:
    problem = refused(422, "chain-file", client.chains.save, "chain: c\nactions:\n  - {nope: 1}\n")
    assert "no action is called 'nope'" in str(problem)
    refused(404, "chain-unknown", client.chains.get, "nowhere")
    client.chains.save(TEXT)
    refused(404, "chain-version-unknown", client.chains.text, "nightly", 7)


def test_an_archived_chain_is_out_of_sight_and_can_be_brought_back(client: Client) -> None:
    client.chains.save(TEXT)
    client.chains.archive("nightly")
    assert list(client.chains.list()) == []
    assert [one["name"] for one in client.chains.list(archived=True)] == ["nightly"]
    refused(409, "chain-archived", client.chains.save, NEWER)
    client.chains.archive("nightly", undo=True)
    assert client.chains.save(NEWER)["number"] == 2


def test_a_chain_is_compared_with_real_systems(api: Running, client: Client) -> None:
    api.agent("web1")
    text = TEXT + "  - {id: b, wait: 0, targets: [db1]}\n"
    assert client.chains.validate(text) == [
        {"level": "warning", "action": "b", "what": "no system of '*' matches 'db1'", "systems": []}
    ]
    (found,) = client.chains.validate("chain: c\nactions:\n  - {wait: 0, targets: [elsewhere]}\n", "web*")
    assert (found["level"], found["what"]) == ("error", "no action is for a system of 'web*'")


def test_transactions_are_for_systems_whose_boots_are_chosen_by_snapshots(
    api: Running, client: Client
) -> None:
    api.agent("micro1", kernel="Linux", boot_snapshots="tukit")
    api.agent("plain1", kernel="Linux", boot_snapshots="")
    api.agent("old1", kernel="Linux")
    text = "chain: c\nactions: [{id: a, wait: 0}, {id: t, transaction: 'true'%s}]\n"
    found = {one["level"]: one for one in client.chains.validate(text % "")}
    assert (found["error"]["action"], found["error"]["systems"]) == ("t", ["plain1"])
    assert found["error"]["what"] == "its root file system is not on a snapshot that can be chosen at boot"
    assert (found["warning"]["action"], found["warning"]["systems"]) == ("t", ["old1"])
    assert "too old" in found["warning"]["what"]
    assert client.chains.validate(text % ", targets: ['micro*']") == []

    problem = refused(409, "chain-unable", client.chain_runs.start, "*", text=text % "")
    assert "plain1 cannot do the action 't': its root file system is not on a snapshot" in str(problem)
    assert list(client.chain_runs.list()) == [], "nothing is begun"
    assert client.chain_runs.start("*", text=text % ", targets: ['micro*']")["status"] == "scheduled"


def test_windows_are_kept_and_asked(api: Running, client: Client) -> None:
    api.agent("web1")
    api.agent("db1")
    made = client.windows.set("weekend", WINDOW, zone="Europe/Berlin", target="web*")
    assert made["kind"] == "allow"
    saturday, monday = 1795228200.0, 1794824860.0  # 2026-11-21 02:30 and 2026-11-16 in UTC
    found = {one["system"]: one for one in client.windows.check("*", at=monday, count=2)}
    assert (found["web1"]["open"], found["web1"]["why"]) == (False, "no window of weekend is open")
    assert [end - begin for begin, end in found["web1"]["windows"]] == [4 * 3600, 4 * 3600]
    assert found["web1"]["next"] == found["web1"]["windows"][0][0]
    assert (found["db1"]["open"], found["db1"]["calendars"]) == (True, [])
    (open_now,) = client.windows.check("web1", at=saturday)
    assert open_now["open"] is True
    client.windows.set("freeze", ALWAYS, kind="deny")
    (denied,) = client.windows.check("web1", at=saturday)
    assert "freeze denies it" in denied["why"]
    client.windows.remove("freeze")
    assert [one["name"] for one in client.windows.list()] == ["weekend"]
    refused(404, "window-unknown", client.windows.remove, "freeze")
    problem = refused(422, "window-invalid", client.windows.set, "wrong", WINDOW.replace("WEEKLY", "HOURLY"))
    assert "line 5" in str(problem)


def test_a_schedule_knows_when_it_fires_next(client: Client) -> None:
    client.chains.save(TEXT)
    made = client.schedules.set("nightly", "nightly", "30 2 * * *", zone="Europe/Berlin", overlap="queue")
    assert made["next_at"] > 0
    assert client.schedules.disable("nightly")["next_at"] is None
    assert client.schedules.enable("nightly")["next_at"] == made["next_at"]
    refused(422, "schedule-invalid", client.schedules.set, "x", "nightly", "often")
    refused(404, "chain-unknown", client.schedules.set, "x", "nowhere", "@daily")
    client.schedules.remove("nightly")
    assert list(client.schedules.list()) == []
    refused(404, "schedule-unknown", client.schedules.enable, "nightly")
    done = [one["action"] for one in client.audit.list()]
    assert done.count("schedule.set") == 3
    assert "schedule.remove" in done


def test_who_may_only_read_changes_nothing(api: Running, client: Client) -> None:
    client.chains.save(TEXT)
    joe = logged_in(api, client, "joe", "viewer")
    assert [one["name"] for one in joe.chains.list()] == ["nightly"]
    refused(403, "not-allowed", joe.chains.save, NEWER)
    refused(403, "not-allowed", joe.windows.set, "w", WINDOW)
    refused(403, "not-allowed", joe.schedules.set, "s", "nightly", "@daily")
    ann = logged_in(api, client, "ann", "operator")
    assert ann.chains.save(NEWER)["number"] == 2
    refused(403, "not-allowed", ann.windows.set, "w", WINDOW)
