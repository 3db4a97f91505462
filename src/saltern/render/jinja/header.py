"""A template's own options, in its first line."""

from __future__ import annotations

from saltern.language.diagnostics import CompileError, Diagnostic
from saltern.language.source import Mark

HEADER = "#jinja2:"


def header(text: str, file: str = "<text>") -> tuple[dict[str, object], str]:
    """``#jinja2: {"trim_blocks": true}`` as the first line: options for this template alone.

    The line becomes a comment that prints nothing, so that all other lines keep their numbers. Raises
    ``CompileError`` if what follows is no JSON mapping.
    """
    if HEADER not in text:
        return {}, text
    start = text.lstrip("\n")  # a line for the renderers may have stood above it
    if not start.startswith(HEADER):
        return {}, text
    import json

    line, _, rest = start.partition("\n")
    if not line[len(HEADER) :].strip():
        return {}, text  # no options, as in Salt
    above = text[: len(text) - len(start)]
    try:
        options = json.loads(line[len(HEADER) :])
    except (ValueError, RecursionError) as problem:
        raise _wrong(file, len(above), f"is no JSON: {problem}") from None
    if not isinstance(options, dict):
        raise _wrong(file, len(above), "is no mapping of options")
    return {str(name).lower(): value for name, value in options.items()}, f"{above}{{#\n#}}{rest}"


def _wrong(file: str, above: int, what: str) -> CompileError:
    return CompileError(
        Diagnostic(
            code="template-header",
            what=f"what follows '{HEADER}' {what}",
            where=Mark(file, above + 1),
            fix="write a mapping, such as: " + HEADER + ' {"trim_blocks": true}',
        )
    )


def header_line(text: str) -> str:
    """That line of a file, if it has one, for the other templates that are cut out of it."""
    at = text.find("\n") + 1 if text.startswith("#!") else 0
    while text.startswith(("\n", "\r"), at):
        at += 1
    return text[at:].partition("\n")[0] if text.startswith(HEADER, at) else ""
