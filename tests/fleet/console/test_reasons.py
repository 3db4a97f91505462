"""A reason that a page asks for is in the audit; what takes machines down is always confirmed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.fleet.api.kit import Running, add_job, add_system
from tests.fleet.console.kit import PASSWORD, Browser

from saltern.fleet.api.dispatch import _with_reason
from saltern.fleet.api.once import Done
from saltern.fleet.store.audit import REASON, add_reason

MANY = [f"web{number}" for number in range(12)]
WHY = "the mirror is back – ticket 5521"
CHAIN = "chain: small\nactions:\n  - {id: a, command: 'true'}\n"


def add_all(running: Running) -> None:
    for name in MANY:
        add_system(running.database, name)
    add_job(running.database, "j1", tuple(MANY), function="cmd.run", args=["sleep 9"])
    running.client().chains.save(CHAIN)


def newest(console: Running, action: str) -> dict[str, Any]:
    rows = [one for one in console.client().audit.list() if one["action"] == action]
    found: dict[str, Any] = rows[-1]["detail"]
    return found


ACTS = [
    ("/command/run", {"run": "test.ping", "target": "web*"}, "job.submit"),
    ("/chains/small/run", {"target": "web*"}, "chain.run"),
    ("/jobs/j1/stop", {"hard": "on"}, "job.cancel"),
]


@pytest.mark.parametrize(("path", "fields", "action"), ACTS, ids=[one[2] for one in ACTS])
def test_a_reason_is_kept_in_the_audit(
    console: Running, admin: Browser, path: str, fields: dict[str, str], action: str
) -> None:
    sure = {"count": "12", "typed": "12", "reason": WHY}
    done = admin.act("/account", path, {**fields, **sure})
    assert done.status == 303, done.text[-2000:]
    assert newest(console, action)["reason"] == WHY
    assert WHY in admin.get("/admin/audit").text, "and the page of the audit shows it"
    assert console.client().audit.verify()["problem"] == ""


def test_what_has_no_reason_gets_none_of_another(console: Running, admin: Browser) -> None:
    admin.act("/account", "/command/run", {"run": "test.ping", "target": "web1", "count": "1"})
    assert "reason" not in newest(console, "job.submit")


def test_a_script_gives_a_reason_with_a_header(console: Running) -> None:
    token = console.client().own.login("admin", PASSWORD)["token"]
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    headers["reason"] = "asked%20by%20anna%0Atwice"
    body = b'{"function": "test.ping", "target": "web1"}'
    sent = Browser(console).send("POST", "/v1/jobs", body, headers)
    assert sent.status < 300, sent.text
    assert newest(console, "job.submit")["reason"] == "asked by anna twice"


def test_what_goes_on_after_a_request_is_not_for_its_reason() -> None:
    async def later(go: asyncio.Event) -> object:
        await go.wait()
        return add_reason({"a": 1})

    async def request() -> tuple[object, object, object]:
        go = asyncio.Event()
        tasks: list[asyncio.Task[object]] = []

        async def work() -> Done:
            tasks.append(asyncio.create_task(later(go)))
            seen.append(add_reason({"a": 1}))
            seen.append(add_reason({"why": "own"}))
            return Done(status=200, body=b"")

        seen: list[object] = []
        await _with_reason(work(), "so")
        go.set()
        assert REASON.get() is None
        return seen[0], seen[1], await tasks[0]

    assert asyncio.run(request()) == ({"a": 1, "reason": "so"}, {"why": "own"}, {"a": 1})


@pytest.mark.parametrize("run", ["system.reboot", "system.poweroff 5", "system.shutdown at_time=1"])
def test_what_takes_a_machine_down_is_confirmed_whatever_the_number(
    console: Running, admin: Browser, run: str
) -> None:
    page = f"/command?run={run.replace(' ', '%20')}&target=web1"
    shown = admin.get(page).text
    assert 'name="typed"' in shown and 'class="danger sure" disabled' in shown
    fields = {"run": run, "target": "web1", "count": "1"}
    assert "number that was typed" in admin.act(page, "/command/run", fields).text
    typed = admin.act(page, "/command/run", {**fields, "typed": "1"})
    assert typed.status == 409 and "no reason is given" in typed.text
    assert admin.act(page, "/command/run", {**fields, "typed": "1", "reason": WHY}).status == 303
    assert newest(console, "job.submit")["reason"] == WHY


def test_a_system_offers_its_reboot(admin: Browser, console: Running) -> None:
    assert "/command?run=system.reboot&amp;target=L%40web1" in admin.get("/systems/web1").text
    viewer = Browser(console)
    viewer.sign_in("viewer")
    assert "/command?run=system.reboot" not in viewer.get("/systems/web1").text
