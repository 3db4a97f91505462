"""The options of a template in its first line."""

from __future__ import annotations

from saltern.language.diagnostics import CompileError, Diagnostic
from saltern.language.source import Mark

HEADER = "#jinja2:"


def header(text: str, file: str = "<text>") -> tuple[dict[str, object], str]:
    """``#jinja2: {"trim_blocks": true}`` in the first line: options of this template.

    The line becomes an empty comment, so that all other lines keep their numbers. Raises
    ``CompileError`` if it is not followed by a JSON mapping.
    """
    if HEADER not in text:
        return {}, text
    start = text.lstrip("\n")  # a line for the renderers may precede it
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
        raise _wrong(file, len(above), f"is not JSON: {problem}") from None
    if not isinstance(options, dict):
        raise _wrong(file, len(above), "is not a mapping of options")
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
    """The header line of a file, for templates that are cut out of it; empty if it has none."""
    at = text.find("\n") + 1 if text.startswith("#!") else 0
    while text.startswith(("\n", "\r"), at):
        at += 1
    return text[at:].partition("\n")[0] if text.startswith(HEADER, at) else ""
