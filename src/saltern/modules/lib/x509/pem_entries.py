"""PEM entries of a text."""

from __future__ import annotations

import re

from saltern.modules.api.refused import Refused

ENTRY = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)


WIDTH = 64


def entries(text: str) -> list[tuple[str, str]]:
    """The kind and normalized text of every PEM entry. Text on one line, as often in pillar, is accepted."""
    found = []
    for match in ENTRY.finditer(text.replace("\\n", "\n")):
        kind, body = match[1], match[2]
        headers = [line for line in body.strip().splitlines() if ":" in line]
        digits = re.sub(r"\s", "", "".join(line for line in body.splitlines() if ":" not in line))
        if not digits or not re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", digits):
            raise Refused(f"the {kind.lower()} in the text is not base64")
        rows = [digits[start : start + WIDTH] for start in range(0, len(digits), WIDTH)]
        above = [*headers, ""] if headers else []
        found.append(
            (kind, "\n".join([f"-----BEGIN {kind}-----", *above, *rows, f"-----END {kind}-----"]) + "\n")
        )
    if not found:
        raise Refused("the text contains no PEM entry (-----BEGIN …)")
    return found
