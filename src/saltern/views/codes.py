"""The pages of the error codes, from the shipped file."""

from __future__ import annotations

import os
from typing import Any

from msgspec import json

DATA = os.path.join(os.path.dirname(__file__), "codes.json")  # made by `make docs`
CODE_LIST = """\
saltern explain CODE prints the page of a code; saltern explain ID explains the position of a state.

codes:
{codes}
"""
_read: dict[str, dict[str, Any]] = {}


def known_codes() -> dict[str, dict[str, Any]]:
    """Each code with its note, whether it is a warning or a rule of ``check``, its messages and fixes."""
    if not _read:
        with open(DATA, "rb") as file:
            _read.update(json.decode(file.read()))
    return _read


def page(code: str) -> str:
    body = known_codes()[code]
    parts = [code]
    if body["warning"]:
        parts.append("A warning: the run continues.")
    if body["note"]:
        parts.append(body["note"])
    if body["rule"]:
        parts.append(f"A rule of `saltern check`; `--ignore {code}` switches it off.")
    for heading, texts in (("says", body["says"]), ("advises", body["advises"])):
        if texts:
            parts.append("\n".join([f"{heading}:", *(f"  {text}" for text in texts)]))
    parts.append("In the messages, … stands for names from your files.")
    return "\n\n".join(parts)
