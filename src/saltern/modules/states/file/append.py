"""``file.append`` and ``file.prepend``: text that must be in a file, at its end or its start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words
from saltern.modules.api.declare import state
from saltern.modules.api.params import Variables
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files import sources
from saltern.modules.lib.files.content import render_source, template_of
from saltern.modules.lib.files.edit import Edit, edit, end_line

NO_TEMPLATE = "no argument is called {!r}, and no template is rendered that could use it"


@state(name_is="path")
def append(
    ctx: Context,
    /,
    name: str,
    *,
    text: object = None,
    makedirs: bool = False,
    source: str | None = None,
    source_hash: str | None = None,
    template: str | None = "jinja",
    sources: list[object] | None = None,
    source_hashes: list[object] | None = None,
    defaults: object = None,
    context: object = None,
    ignore_whitespace: bool = True,
    show_changes: bool = True,
    **variables: Variables,
) -> Result:
    """Add text to the end of a file unless the file contains it already. A missing file is created.

    Args:
        name: the absolute path of the file.
        text: a text, or a list; each text is searched for separately, one of several lines as a whole.
        makedirs: create missing parent directories.
        source, sources: files to take the text from instead.
        source_hash, source_hashes: their checksums.
        template: the engine that renders them.
        defaults, context: variables for it.
        **variables: further arguments are variables for it, too, if ``source`` or ``sources`` is given.
        ignore_whitespace: ignore white space at the ends of a line, and its amount within the line,
            when searching.
        show_changes: False leaves the difference out of the result.

    Example:
        ```yaml
        /etc/motd:
          file.append:
            - text:
              - Managed by saltern
              - Ask ada before you change anything
        ```
    """
    ctx.facts = {"path": name}
    found = texts(
        ctx,
        name,
        text,
        source,
        source_hash,
        sources,
        source_hashes,
        template,
        context,
        defaults,
        variables,
    )
    added: list[str] = []

    def change(old: str) -> str:
        added.extend(_missing_lines(found, old, ignore_whitespace))
        return end_line(old) + "".join(f"{line}\n" for line in added) if added else old

    how = Edit(
        path=name,
        create=True,
        makedirs=makedirs,
        show_changes=show_changes,
        words=_words(name, "Appended"),
    )
    return _insert_count(edit(ctx, how, change), len(added))


@state(name_is="path")
def prepend(
    ctx: Context,
    /,
    name: str,
    *,
    text: object = None,
    makedirs: bool = False,
    source: str | None = None,
    source_hash: str | None = None,
    template: str | None = "jinja",
    sources: list[object] | None = None,
    source_hashes: list[object] | None = None,
    defaults: object = None,
    context: object = None,
    header: bool = False,
    show_changes: bool = True,
    **variables: Variables,
) -> Result:
    """Add text to the start of a file unless the file contains it already. A missing file is created.

    Args:
        header: the text must be at the very start of the file, even if it is also elsewhere.

    The other arguments are those of ``file.append``.

    Example:
        ```yaml
        /etc/app.conf:
          file.prepend:
            - text: '# Managed by saltern'
        ```
    """
    ctx.facts = {"path": name}
    found = texts(
        ctx,
        name,
        text,
        source,
        source_hash,
        sources,
        source_hashes,
        template,
        context,
        defaults,
        variables,
    )
    added: list[str] = []

    def change(old: str) -> str:
        lines = [line for item in found for line in split(item)]
        if header:
            added.extend([] if old.split("\n")[: len(lines)] == lines else lines)
        else:
            added.extend(_missing_lines(found, old, True))
        return "".join(f"{line}\n" for line in added) + old

    how = Edit(
        path=name,
        create=True,
        makedirs=makedirs,
        show_changes=show_changes,
        words=_words(name, "Prepended"),
    )
    return _insert_count(edit(ctx, how, change), len(added))


def _words(path: str, verb: str) -> Words:
    return Words(f"File {path} is in correct state", f"File {path} is set to be updated", f"{verb} # lines")


def _insert_count(result: Result, lines: int) -> Result:
    return (
        replace(result, comment=result.comment.replace("#", str(lines)))
        if result.comment.endswith("# lines")
        else result
    )


def texts(
    ctx: Context,
    path: str,
    text: object,
    source: str | None,
    source_hash: str | None,
    several: list[object] | None,
    hashes: list[object] | None,
    template: str | None,
    context: object,
    defaults: object,
    variables: Mapping[str, object],
) -> list[str]:
    """The texts from the arguments: given, or read from sources and rendered."""
    named = [
        word
        for word, value in (("text", text), ("source", source), ("sources", several))
        if value is not None
    ]
    if len(named) != 1:
        raise Refused(
            f"give one of text, source and sources{', not ' + ' and '.join(named) if named else ''}"
        )
    if text is not None:
        for name in variables:
            raise Refused(NO_TEMPLATE.format(name))
        return [_check_text(item) for item in (text if isinstance(text, list) else [text])]
    listed = [several] if isinstance(several, str) else several or []
    places: Sequence[object] = [source] if source is not None else listed
    sums: Sequence[object] = [source_hash] if source is not None else hashes or []
    how = template_of(template, context, defaults, variables=variables)
    return [
        render_source(ctx, path, sources.find(ctx, [place], _fetch(sums, at)), how).decode("utf-8")
        for at, place in enumerate(places)
    ]


def _fetch(sums: Sequence[object], at: int) -> sources.Fetch:
    return sources.Fetch(source_hash=str(sums[at] or "") if at < len(sums) else "")


def _check_text(item: object) -> str:
    if isinstance(item, dict | list) or item is None:
        raise Refused(f"text must be a text or a list of texts, not {item!r}; is the indentation right?")
    return str(item)


def split(text: str) -> list[str]:
    """The lines of a text; a newline at its end does not begin another line."""
    return text.removesuffix("\n").split("\n") if text else []


def _missing_lines(wanted: list[str], old: str, ignore_whitespace: bool) -> list[str]:
    def plain(line: str) -> str:
        return " ".join(line.split()) if ignore_whitespace else line.removesuffix("\r")

    def compared_lines(lines: list[str]) -> list[str]:
        """The lines as they are compared; blank ones are white space, too."""
        return [plain(line) for line in lines if line.strip() or not ignore_whitespace]

    have = compared_lines(split(old))
    missing: list[str] = []
    for text in wanted:
        lines = split(text)
        if not text.isspace() and not _holds(have, compared_lines(lines)):
            missing += lines
            have += compared_lines(lines)
    return missing


def _holds(have: list[str], lines: list[str]) -> bool:
    """True if these lines are in the file, one after the other."""
    size = len(lines)
    return any(have[at : at + size] == lines for at in range(len(have) - size + 1))
