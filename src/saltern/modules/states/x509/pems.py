"""``x509.pem_managed``."""

from __future__ import annotations

from typing import Unpack

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.lib.x509.pem_entries import entries
from saltern.modules.lib.x509.write import FileArguments, spot, write_if_different


@state
def pem_managed(ctx: Context, /, name: str, *, text: str, **kwargs: Unpack[FileArguments]) -> Result:
    """Make sure that a file contains exactly these PEM entries.

    Args:
        name: the absolute path of the file.
        text: the entries; white space does not matter. It may contain keys, so it is never shown.

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
    return write_if_different(
        ctx, where, differs, lambda: data, lambda _: {"entries": kinds}, what="PEM file"
    )
