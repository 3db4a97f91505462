"""/etc/machine-info: the description of this machine."""

from __future__ import annotations

import re

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused

FILE = "/etc/machine-info"
LINE = re.compile(r"^\s*PRETTY_HOSTNAME=(.*)$\n?", re.MULTILINE)
ESCAPED = {"\\": "\\\\", '"': '\\"', "$": "\\$", "`": "\\`", "\n": "\\n", "\t": "\\t"}
PLAIN = {written[1]: sign for sign, written in ESCAPED.items()}


def description(ctx: Context) -> str | None:
    """The description, or None if there is none."""
    found = LINE.findall(ctx.host.read(FILE) or "")
    return _bare(found[-1].strip()) if found else None


def describe(ctx: Context, text: str) -> None:
    """Set the description; the rest of the file stays. An empty text removes it."""
    if "\0" in text or "\r" in text:
        raise Refused(f"{text!r} cannot be the description of a machine")
    before = ctx.host.read(FILE) or ""
    rest = LINE.sub("", before)
    end = "" if not rest or rest.endswith("\n") else "\n"
    quoted = "".join(ESCAPED.get(sign, sign) for sign in text)
    ctx.host.write(FILE, f'{rest}{end}PRETTY_HOSTNAME="{quoted}"\n' if text else rest)


def _bare(value: str) -> str:
    """The value without quotes and backslashes, as a shell would read it."""
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1]
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = value[1:-1]
    return re.sub(r"\\(.)", lambda found: PLAIN.get(found[1], found[1]), value)
