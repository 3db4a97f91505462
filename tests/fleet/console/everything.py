"""A fleet that has something of everything, and the address of every page that shows it."""

from __future__ import annotations

import time
from urllib.parse import quote

from tests.fleet.api.kit import (
    Running,
    add_chain_plan,
    add_chain_run,
    add_events,
    add_job,
    add_return,
    add_system,
)
from tests.fleet.api.test_library import ALWAYS
from tests.fleet.api.test_permission import POLICY
from tests.fleet.console.data import demo
from tests.fleet.console.kit import Browser

from saltern.fleet.console.pages import PAGES

RUN, LEG = "20261116024712000002", "web-0016.fra"
STATES = (
    b'{"file_|-motd_|-/etc/motd_|-managed": {"__id__": "motd", "name": "/etc/motd", "result": false,'
    b' "comment": "no space left", "changes": {"diff": "-a\\n+b"}, "duration": 4.2, "__run_num__": 0}}'
)
CHAIN = "chain: built\nactions:\n  - {id: a, command: 'true'}\n  - {id: b, reboot: {when: needed}}\n"
NAMES = {"run": RUN, "system": LEG, "chain": "built", "jid": "j1", "plan": "planned"}
PARTS = ("/output", "/meant")  # of the page of a run and of the builder, and looked at there


def add_everything(running: Running) -> None:
    """Runs with failures and gates, plans, jobs, keys that wait, chains, windows, schedules, a request."""
    database = running.database
    demo(database, time.time())
    add_system(database, "new1", accept=False)
    for name in ("r1", "planned"):
        add_chain_run(database, name, LEG)
    add_chain_plan(database, "planned", LEG)
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE chain_gates SET expires = 4e9")
    add_job(database, "j1", (LEG, "web-0001.fra"), function="state.apply", args=["motd"])
    add_return(database, "j1", LEG, STATES)
    add_events(database, "saltern/alarm")
    client = running.client()
    client.policy.set(POLICY)
    client.chains.save(CHAIN)
    client.chains.save(CHAIN + "  - {id: c, wait: 1}\n")
    client.windows.set("always", ALWAYS, target="web*")
    client.schedules.set("nightly", "built", "30 2 * * *", target="web*")
    operator = Browser(running)
    operator.sign_in("operator")
    operator.act("/account", "/command/run", {"run": "state.apply web", "target": LEG, "count": "1"})


def all_names(running: Running) -> dict[str, str]:
    """The names that the paths of pages have, with what there is."""
    return {**NAMES, "approval": next(one["id"] for one in running.client().approvals.list())}


def page_paths(names: dict[str, str]) -> list[str]:
    """Every HTML page of the table with these names in its path."""
    found = []
    for page in PAGES:
        own = {**names, "run": "r1", "gate": "run"} if "{gate}" in page.path else names
        path = page.path
        for name, value in own.items():
            path = path.replace(f"{{{name}}}", quote(value, safe=""))
        assert "{" not in path and "//" not in path, path
        if page.media == "text/html":
            found.append(path)
    return found
