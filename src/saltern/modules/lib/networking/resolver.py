"""The domain of the machine and the search list in /etc/resolv.conf."""

from __future__ import annotations

import re

from saltern.modules.api.refused import Refused

RESOLV = "/etc/resolv.conf"
HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,62})(\.[A-Za-z0-9]([A-Za-z0-9-]{0,62}))*")
LONGEST = 253


def host_name(value: object) -> str:
    """A valid host name. Raises ``Refused`` for any other."""
    text = str(value)
    if HOST.fullmatch(text) is None or len(text) > LONGEST or "-." in text or text.endswith("-"):
        raise Refused(f"{text!r} cannot be the name of a host; use letters, digits, - and dots")
    return text


def names(text: str) -> tuple[str, str]:
    """``domain`` and ``search``; empty where there is none."""
    found = {"domain": "", "search": ""}
    for line in text.splitlines():
        words = line.split()
        if len(words) > 1 and words[0] in found:
            found[words[0]] = " ".join(words[1:])
    return found["domain"], found["search"]


def with_names(text: str, domain: str, search: str) -> str:
    """The text with these values, replacing the old ones or at the top; an empty one is left out."""
    wanted = {"domain": domain, "search": search}
    kept = []
    for line in text.splitlines():
        word = line.split(None, 1)[0] if line.split() else ""
        if word in ("domain", "search"):
            value = wanted.pop(word, "")  # drop a second line of this kind: only the last one counts
            kept += [f"{word} {value}"] if value else []
        else:
            kept.append(line)
    new = [f"{word} {value}" for word, value in wanted.items() if value]
    return "\n".join([*new, *kept, ""])
