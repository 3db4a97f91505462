#!/usr/bin/env python3
"""The cost of the console on a large fleet: CPU and bytes of each page, and many followers of one run.

``python bench/console.py [--quick] [--json FILE]``: rows of name, value, limit, and whether it holds. The
database is that of ``bench/console_scale.py``: 10,000 systems, 2,000 runs, one of them with 1,000 systems and
50 steps. ``--quick`` has fewer rounds and follows for a shorter time.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path = [os.path.dirname(HERE), *(path for path in sys.path if path != HERE)]

from bench.console_scale import fill  # noqa: E402
from bench.console_size import Scale  # noqa: E402
from bench.fleet_measure import median, row, run_bench  # noqa: E402

Rows = list[dict[str, Any]]
PAGE_MS, PAGE_KB, FOLLOWERS_PERCENT = 50.0, 150.0, 20.0
FOLLOWERS, EACH = 200, 10  # open pages, and how many of them one session has


class Sizes:
    """How much is measured."""

    def __init__(self, quick: bool) -> None:
        self.rounds = 5 if quick else 15
        self.seconds = 8.0 if quick else 30.0
        self.changes = 2.0  # of the run that is followed, in a second


@contextmanager
def large_console(place: Path) -> Iterator[tuple[Any, str]]:
    """A console over the large database, in this process; and the id of its wide run.

    The garbage collector is set up as in a controller.
    """
    from tests.fleet.console.kit import running_console

    from saltern.system.garbage import BUSY, collect_from_now_on

    wide = fill(place / "fleet.db", Scale())
    with running_console(place) as running:
        collect_from_now_on(BUSY)
        yield running, wide


def pages_of(running: Any, wide: str) -> dict[str, str]:
    """Every page of the console, with what there is in the large database."""
    from saltern.fleet.console.pages import PAGES

    client = running.client()
    items = client.inbox()["items"]
    gate = next(one for one in items if one["kind"] == "gate")
    request = next(one for one in items if one["kind"] == "approval")
    leg = client.chain_runs.matrix(wide)["rows"][0]["system"]
    job = next(iter(client.jobs.list()))["jid"]
    answered = client.jobs.answers(job)["groups"][0]["some"][0]
    names = {
        "run": wide,
        "chain": "wide",
        "system": leg,
        "jid": job,
        "approval": request["id"],
    }
    found: dict[str, str] = {}
    for page in PAGES:
        own = dict(names)
        if "{gate}" in page.path:
            own |= {"run": gate["run"], "gate": gate["gate"]}
        if page.path.startswith("/jobs/{jid}/"):
            own["system"] = answered
        path = page.path
        for name, value in own.items():
            path = path.replace(f"{{{name}}}", quote(value, safe=""))
        if "{" not in path and page.media == "text/html":
            found[page.path] = path
    found["/systems?t="] = "/systems?t=" + quote("G@role:web") if "/systems" in found else ""
    found["/command, with a target"] = "/command?run=test.ping&target=" + quote("web-000*")
    found["/calendar, why not now on all systems"] = "/calendar?target=*"
    found["/chains/{chain}, on all systems"] = "/chains/os-patch?target=*"
    return {name: path for name, path in found.items() if path}


def measure_files(place: Path, sizes: Sizes) -> Rows:
    """CPU for each thousand rows of a file: it is sent in pieces, and no piece holds up other pages."""
    from tests.fleet.console.kit import Browser

    rows: Rows = []
    with large_console(place) as (running, _):
        browser = Browser(running)
        if browser.sign_in("admin").status != 303:
            raise RuntimeError("signing in failed")
        for name, path in (("events", "/events/export?hours=24"), ("systems", "/export/systems")):
            lines = browser.get(path).body.count(b"\n")
            used, _ = _page(browser, path, sizes.rounds)
            note = f"{lines:,} rows"
            rows.append(row(f"{path}, ms of CPU for 1,000 {name}", used * 1e6 / lines, PAGE_MS, note=note))
    return rows


def measure_pages(place: Path, sizes: Sizes) -> Rows:
    """CPU of the server at the median, and bytes as they go over the wire."""
    from tests.fleet.console.kit import Browser

    rows: Rows = []
    with large_console(place) as (running, wide):
        browser = Browser(running)
        if browser.sign_in("admin").status != 303:
            raise RuntimeError("signing in failed")
        for name, path in pages_of(running, wide).items():
            used, size = _page(browser, path, sizes.rounds)
            rows.append(row(f"{name}, ms of CPU", used * 1000, PAGE_MS))
            rows.append(row(f"{name}, kB on the wire", size / 1000, PAGE_KB))
    return rows


def _page(browser: Any, path: str, rounds: int) -> tuple[float, int]:
    taken, size = [], 0
    for number in range(rounds + 1):
        before = time.process_time()
        shown = browser.get(path)
        used = time.process_time() - before
        if shown.status != 200:
            raise RuntimeError(f"{path} is answered with {shown.status}")
        size = len(gzip.compress(shown.body, 6))
        if number:  # the first one is to warm up
            taken.append(used)
    return median(taken), size


# -- followers ---------------------------------------------------------------------------------------


async def _follow(app: Any, cookie: str, topic: str, got: list[int]) -> None:
    """One open page: reads the stream until it is cancelled."""

    async def receive() -> Any:
        if not asked:
            asked.append(1)
            return {"type": "http.request", "body": b"", "more_body": False}
        return await asyncio.Event().wait()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start" and message["status"] != 200:
            raise RuntimeError(f"the stream is answered with {message['status']}")
        got[0] += len(message.get("body", b""))

    asked: list[int] = []
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/stream",
        "root_path": "",
        "scheme": "http",
        "query_string": f"topics={topic}&after=0".encode(),
        "headers": [(b"host", b"console.test"), (b"cookie", cookie.encode())],
        "client": ("192.0.2.7", 1),
        "server": ("console.test", 443),
        "state": {},
    }
    await app(scope, receive, send)


def _touch(running: Any, wide: str, number: int) -> None:
    """Something happens to the run: a step of one of its systems ends, and an event says so."""
    from saltern.fleet.store.events import NewEvent, store_events

    leg = f"{wide}.web-{number * 5 % 1000:05d}.{('ams1', 'ber1', 'fra2', 'lon1')[number * 5 % 4]}"
    data = {"run": wide, "leg": leg, "status": "running"}
    with running.database.write() as connection:
        text = "UPDATE chain_steps SET took = took + 1 WHERE leg = ? AND number = 3"
        connection.exec_driver_sql(text, (leg,))
        store_events(connection, [NewEvent(tag=f"saltern/chain/{wide}/leg", data=data, at=time.time())])


def _cookie(browser: Any) -> str:
    """What a browser sends that has signed in."""
    if browser.sign_in("admin").status != 303:
        raise RuntimeError("signing in failed")
    return "; ".join(f"{name}={value}" for name, value in browser.cookies.items())


def measure_followers(place: Path, sizes: Sizes) -> Rows:
    """Many open pages that follow one run in which something happens all the time."""
    from tests.fleet.console.kit import Browser

    from saltern.fleet.console.topics import find_topic

    with large_console(place) as (running, wide):
        cookies = [_cookie(Browser(running)) for _ in range(FOLLOWERS // EACH)]
        topic = f"run/{wide}" if find_topic(f"run/{wide}") else "inbox"
        got = [0]

        async def start() -> list[asyncio.Task[None]]:
            every = [cookie for cookie in cookies for _ in range(EACH)]
            return [asyncio.ensure_future(_follow(running.server.app, one, topic, got)) for one in every]

        tasks = running.run(start())
        time.sleep(2)  # all have their first parts
        before, begun, number = time.process_time(), time.monotonic(), 0
        while time.monotonic() - begun < sizes.seconds:
            _touch(running, wide, number)
            number += 1
            time.sleep(1 / sizes.changes)
        used = (time.process_time() - before) / (time.monotonic() - begun) * 100
        broken = [task for task in tasks if task.done()]

        async def stop() -> None:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        running.run(stop())
    if broken:
        raise RuntimeError(f"{len(broken)} of {FOLLOWERS} followers ended")
    note = f"{got[0] / 1000 / FOLLOWERS:.0f} kB each, {number} changes"
    return [
        row(
            f"{FOLLOWERS} followers of {topic.partition('/')[0]}, percent of a core",
            used,
            FOLLOWERS_PERCENT,
            note=note,
        )
    ]


PARTS = {"pages": measure_pages, "files": measure_files, "followers": measure_followers}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    return run_bench(parser, PARTS, lambda args: Sizes(args.quick))


if __name__ == "__main__":
    sys.exit(main())
