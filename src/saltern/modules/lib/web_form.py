"""A text as a file in a form, as a browser sends it."""

from __future__ import annotations

from saltern.modules.api.params import BadArgument

ESCAPED = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})


def encode_form(data: object, field: str | None, filename: str | None) -> tuple[str, bytes]:
    """The type of the content, and the content."""
    from secrets import token_hex

    if not field:
        raise BadArgument("formdata needs formdata_fieldname, the name of the field")
    boundary = token_hex(16)
    names = f'name="{field.translate(ESCAPED)}"'
    if filename:
        names += f'; filename="{filename.translate(ESCAPED)}"'
    head = f"--{boundary}\r\nContent-Disposition: form-data; {names}\r\n"
    head += "Content-Type: application/octet-stream\r\n\r\n"
    text = b"" if data is None else data if isinstance(data, bytes) else str(data).encode()
    return (
        f"multipart/form-data; boundary={boundary}",
        head.encode() + text + f"\r\n--{boundary}--\r\n".encode(),
    )
