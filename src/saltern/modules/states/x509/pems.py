"""``x509.pem_managed``."""

from __future__ import annotations

import re

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509.write import placed, spot

ENTRY = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
WIDTH = 64


def entries(text: str) -> list[tuple[str, str]]:
    """Kind and tidy text of every PEM entry. Text on one line, as pillar often has it, is understood."""
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
        raise Refused("the text holds no PEM entry (-----BEGIN …)")
    return found


@state
def pem_managed(ctx: Context, /, name: str, *, text: str, **kwargs: object) -> Result:
    """A file holds these PEM entries and nothing else.

    Args:
        name: the absolute path of the file.
        text: the entries; white space does not matter. It may hold keys, so it is never shown.
        user, group, mode, makedirs, dir_mode, backup: as in ``file.managed``.

    Example:
        ```yaml
        /etc/pki/copy.crt:
          x509.pem_managed:
            - text: {{ salt['file.read']('/etc/pki/ca.crt') | json }}
        ```
    """
    ctx.facts = {"path": name}
    where = spot(name, kwargs)
    found = entries(text)
    secret = any("PRIVATE KEY" in kind for kind, _ in found)
    if secret and where.file.mode is None:
        where = spot(name, kwargs, "0600")
    data = "".join(one for _, one in found).encode()
    old = where.read()
    differs: dict[str, object] = {}
    if old != data:
        differs = {"created" if old is None else "replaced": where.path}
    kinds = [kind.lower() for kind, _ in found]
    return placed(ctx, where, differs, lambda: data, lambda _: {"entries": kinds}, what="PEM file")
