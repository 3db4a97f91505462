"""Tags of events: which of them a system may use, and how many events one may send. Pure."""

from __future__ import annotations

import re

RESERVED = ("salt/", "saltern/")
# Salt's tags that a system may use: those that name it.
OWN = (
    re.compile(r"salt/(?:beacon|minion)/(?P<id>[^/]+)/.+"),
    re.compile(r"salt/(?:job/[^/]+/prog|state_result/[^/]+)/(?P<id>[^/]+)/.+"),
)
LONGEST = 512
EVENT_RATE, EVENT_BURST = 250.0, 5000.0  # events of one system: a second, and at once
PACE = 0.8  # of that is what an agent sends


def is_allowed_tag(tag: str, system: str) -> bool:
    """True for a tag that a system may use: not one of the controller, and not one of another system."""
    if not tag.startswith(RESERVED) and tag != "minion_start":
        return True
    return any((found := own.fullmatch(tag)) is not None and found["id"] == system for own in OWN)


def tag_problem(tag: str, system: str) -> str:
    """Why an event with this tag is not sent; empty if it can be."""
    if not tag.strip("/") or len(tag) > LONGEST or "\x00" in tag:
        return f"{tag[:60]!r} is not a valid tag: a tag has 1 to {LONGEST} characters, and not only slashes"
    if not is_allowed_tag(tag, system):
        return f"the tag {tag!r} is the controller's own: choose one that does not begin with 'salt/'"
    return ""


def subject_part(tag: str) -> str:
    """A tag as part of a subject, where no part is empty; readers of the event get the tag from the event."""
    return "/".join(part for part in tag.split("/") if part)


def is_flat(tag: str) -> bool:
    """True for events of beacons, whose data is the whole payload, as in Salt."""
    return tag.startswith("salt/beacon/")
