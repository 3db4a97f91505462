"""A template's own options, in its first line."""

from __future__ import annotations

HEADER = "#jinja2:"


def header(text: str) -> tuple[dict[str, object], str]:
    """``#jinja2: {"trim_blocks": true}`` as the first line: options for this template alone.

    The line becomes a comment that prints nothing, so that all other lines keep their numbers.
    """
    if HEADER not in text:
        return {}, text
    start = text.lstrip("\n")  # a line for the renderers may have stood above it
    if not start.startswith(HEADER):
        return {}, text
    import json

    line, _, rest = start.partition("\n")
    try:
        options = json.loads(line[len(HEADER) :])
    except ValueError:
        return {}, text
    if not isinstance(options, dict):
        return {}, text
    above = text[: len(text) - len(start)]
    return {str(name).lower(): value for name, value in options.items()}, f"{above}{{#\n#}}{rest}"


def header_line(text: str) -> str:
    """That line of a file, if it has one, for the other templates that are cut out of it."""
    at = text.find("\n") + 1 if text.startswith("#!") else 0
    while text.startswith(("\n", "\r"), at):
        at += 1
    return text[at:].partition("\n")[0] if text.startswith(HEADER, at) else ""
