"""Suggestions that are names: of states, files and delayed blocks."""

from __future__ import annotations

from collections.abc import Iterator

from saltern.language.delayed import REFRESHABLE, WHEN
from saltern.lsp.cursor import Cursor
from saltern.lsp.desk import Desk, Found, make_suggestion
from saltern.lsp.positions import Span


def targets(desk: Desk, cursor: Cursor) -> Found:
    """After ``- `` below a requisite: the kind of target, or the target itself."""
    yield make_suggestion(cursor, "sls", "keyword", tail=": ", detail="a whole file", rank=3)
    yield make_suggestion(cursor, "id", "keyword", tail=": ", detail="any state of an ID", rank=3)
    for label, detail, rank in _states(desk, cursor, ""):
        yield make_suggestion(cursor, label, "reference", detail=detail, rank=rank)
    for name in desk.manual.modules("states"):
        yield make_suggestion(cursor, name, "module", tail=": ", rank=4)


def suggest_targets(desk: Desk, cursor: Cursor) -> Found:
    """After ``- pkg: ``: the targets of that kind."""
    if cursor.key == "sls":
        yield from sls(desk, cursor)
        return
    seen: set[str] = set()
    for label, detail, rank in _states(desk, cursor, cursor.key):
        name = label.partition(": ")[2]
        if name not in seen:
            seen.add(name)
            yield make_suggestion(cursor, name, "reference", detail=detail, rank=rank)


def _states(desk: Desk, cursor: Cursor, wanted: str) -> Iterator[tuple[str, str, int]]:
    """The states that may be named: ``pkg: nginx``, its file, and how near that file is."""
    site, index = desk.site, desk.index
    here = site.sls(desk.path)
    near = index.reached_files(site, desk.env, here)
    files = {name: (path, known) for name, path, known in index.files(site, desk.env)}
    files[here] = (desk.path, desk.outline)
    for sls, (_, known) in files.items():
        for one in known.declared:
            scope = one.block == cursor.block if sls == here else not one.block
            if one.id.dynamic or not scope:
                continue
            rank = 0 if sls == here else 1 if sls in near else 2
            modules = {"id"} if wanted == "id" else {m for m in one.modules if not wanted or m == wanted}
            for module in sorted(modules):
                yield f"{module}: {one.id.text}", sls, rank
            for module, name in one.names:
                if module == wanted:
                    yield f"{module}: {name}", sls, rank + 1


def ids(desk: Desk, cursor: Cursor) -> Found:
    """Below ``extend``: an ID of another file."""
    seen = {one.id.text for one in desk.outline.declared}
    for label, detail, rank in _states(desk, cursor, "id"):
        name = label.partition(": ")[2]
        if name not in seen:
            seen.add(name)
            yield make_suggestion(
                cursor,
                name,
                "reference",
                tail=":" if cursor.path == ("extend",) else "",
                detail=detail,
                rank=rank,
            )


def sls(desk: Desk, cursor: Cursor) -> Found:
    here, top = desk.site.sls(desk.path), desk.site.settings.state_top.removesuffix(".sls")
    for name in desk.site.tree.sls_names(desk.env):
        if name != here and name.rpartition(".")[2] != top:
            yield make_suggestion(cursor, name, "file", rank=1)


def suggest_delayed(desk: Desk, cursor: Cursor) -> Found:
    """Below ``delayed_render`` and its older forms."""
    word = cursor.path[-1]
    kind = cursor.key or {"delayed_blocks": "block", "delayed_slses": "sls"}.get(word, "")
    if kind == "sls":
        yield from sls(desk, cursor)
    elif kind == "block":
        yield from _blocks(desk, cursor)
    elif kind == "when":
        for name in WHEN:
            yield make_suggestion(cursor, name, "value")
    elif not kind:
        for name in ("block", "sls") if cursor.item else ("when", "context"):
            yield make_suggestion(cursor, name, "keyword", tail=": ")


def _blocks(desk: Desk, cursor: Cursor) -> Found:
    for block in desk.outline.blocks:
        if block.outer == cursor.block[: len(block.outer)]:
            yield make_suggestion(cursor, block.name.text, "block", detail="delayed block")


def tags(desk: Desk, cursor: Cursor) -> Found:
    """``#!delayed_block NAME words`` and its end."""
    tag, _, rest = cursor.before.partition(" ")
    start = cursor.span.end - len(cursor.before)
    if "#!delayed_block".startswith(tag) or "#!end_delayed_block".startswith(tag):
        word = cursor.before.rpartition(" ")[2]
        span = Span(cursor.span.end - len(word), cursor.span.end)
        if not rest and not cursor.before.endswith(" "):
            span = Span(start, cursor.span.end)
            names = ["#!delayed_block", "#!end_delayed_block", "#!delayed_sls"] if tag.startswith("#") else []
        elif tag == "#!end_delayed_block":
            names = [block.name.text for block in desk.outline.blocks]
        else:
            refresh = [f"refresh={name}" for name in REFRESHABLE]
            names = ["scoped", "delayed_repeat_limit=None", *refresh] if " " in rest else []
        for name in names:
            yield make_suggestion(cursor, name, "keyword", span=span)


def files(desk: Desk, cursor: Cursor) -> Found:
    """``salt://``: the files of the tree."""
    typed = cursor.before.rpartition("salt://")[2]
    span = Span(cursor.span.end - len(typed), cursor.span.end)
    for name in desk.site.tree.names(desk.env):
        yield make_suggestion(cursor, name, "file", span=span)
