"""``file.decode``: write a file from encoded data."""

from __future__ import annotations

import binascii

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.facts import absolute
from saltern.modules.lib.files.write import Wanted, place


@state
def decode(
    ctx: Context,
    name: str,
    *,
    encoded_data: str | None = None,
    contents_pillar: str | None = None,
    encoding_type: str = "base64",
) -> Result:
    """Write a file from base64 data: a key, a picture, or any other binary content.

    Args:
        name: the absolute path of the file.
        encoded_data: the data.
        contents_pillar: the pillar key of the data, instead of ``encoded_data``.
        encoding_type: ``base64``, the only supported encoding.

    Example:
        ```yaml
        /etc/app.key:
          file.decode:
            - encoding_type: base64
            - encoded_data: c2FsdGVybg==
        ```
    """
    ctx.facts = {"path": name}
    if encoding_type != "base64":
        raise Refused(f"no encoding_type is called {encoding_type!r}; use base64")
    if (encoded_data is None) == (contents_pillar is None):
        raise Refused("give either encoded_data or contents_pillar")
    missing = object()
    data = encoded_data if contents_pillar is None else ctx.functions["pillar.get"](contents_pillar, missing)
    if data is missing:
        raise Refused(f"Pillar {contents_pillar} does not exist")
    return place(ctx, Wanted(path=absolute(name)), _decode(str(data)))


def _decode(text: str) -> bytes:
    import base64

    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as problem:
        raise Refused(f"the data is not base64: {problem}") from None
