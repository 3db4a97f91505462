"""Parts of a page that change while it is open: rendered once for the page, and again for all its readers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from markupsafe import Markup
from msgspec import Struct

from saltern.fleet.console.render import render
from saltern.fleet.console.row import Data, Page, Topic, Visit
from saltern.fleet.console.topics import find_topic

INBOX = "inbox"  # followed by every page: how much waits for a person


class Part(Struct, frozen=True):
    """One part: its HTML, and a digest that shows a page whether it already has it."""

    html: str
    digest: str


def render_parts(topic: Topic, data: Data) -> dict[str, Part]:
    """All parts of a topic."""
    found = {}
    for name in topic.parts:
        html = render(f"parts/{name}.html", data)
        found[name] = Part(html, hashlib.sha256(html.encode()).hexdigest()[:16])
    return found


def element(name: str, part: Part) -> Markup:
    """The part as an element of a page: a script finds it by its id."""
    return Markup('<div class="part" id="part-{}" data-hash="{}">{}</div>').format(
        name, part.digest, Markup(part.html)
    )


async def page_parts(page: Page, visit: Visit, data: Data) -> Data:
    """What a live page needs: the topics it follows, since when, and their parts."""
    after = await newest(visit)
    names = [INBOX] if find_topic(INBOX) and visit.may("approvals.read") else []
    own = page.topic if data.get("at") is None else ""  # a page that shows the past follows nothing
    names += [fill(own, visit.path)] if own and own != INBOX else []
    parts: Data = {}
    for name in names:
        parts |= await topic_parts(name, visit, data)
    return {"topics": names, "after": after, "parts": parts}


async def topic_parts(name: str, visit: Visit, data: Data) -> Data:
    """The parts of one topic; data that the page has already gathered is reused."""
    found = find_topic(name)
    assert found is not None, f"no topic is called {name!r}"
    topic, names = found
    shared: Data = {"root": visit.root, "now": visit.now}
    if name == INBOX and "inbox" in data:
        shared |= {"waiting": len(data["inbox"]["items"])}
    elif data.get("has_topic_data") and name != INBOX:
        shared |= data
    else:
        shared |= await topic.gather(visit.ask, names, visit.now)
    return {one: element(one, part) for one, part in render_parts(topic, shared).items()}


async def newest(visit: Visit) -> int:
    """The number of the newest event: where the stream of the page begins."""
    if not visit.may("events.read"):
        return 0
    return int((await visit.ask.get("/v1/events/newest"))["number"])


def fill(text: str, names: Mapping[str, str]) -> str:
    for name, value in names.items():
        text = text.replace(f"{{{name}}}", value)
    return text
