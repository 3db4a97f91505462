"""Sources that need not be fetched, and one that must not be: the file itself."""

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.addresses import is_web, on_disk
from saltern.modules.lib.files import sources
from saltern.modules.lib.files.content import Template
from saltern.modules.lib.files.facts import digest
from saltern.system import files


def right_already(
    ctx: Context, path: str, source: object, how: sources.Fetch, template: Template
) -> bytes | None:
    """The content of the file, if it has the required digest of a source from the web."""
    url, expected = sources.candidates(source, how.source_hash)[0]
    if template.engine or template.encoding or not expected or not is_web(url) or how.skip_verify:
        return None
    try:
        here = files.read(path)
    except OSError:
        return None
    if here is None:
        return None
    form, value = sources.expected_hash(ctx, expected, url, how)
    return here if digest(here, form) == value else None


def refuse_own_source(ctx: Context, path: str, found: sources.Source, template: Template) -> None:
    """Raise if a file would be rendered over itself: its template would be lost."""
    if not (template.engine or template.encoding) or not os.path.exists(path):
        return
    place = on_disk(ctx, found.url)
    if place is not None and os.path.samefile(place, path):
        raise Refused(f"Source file cannot be the same as destination: {path}")
