"""Writes a picture for other programs: Graphviz's dot, and mermaid."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from saltern.report.text import safe
from saltern.views.picture import Item, Picture

# The style of an edge in dot; others are solid and black.
STYLES: dict[str, str] = {
    "watch": 'color="#1f6feb"',
    "watch_any": 'color="#1f6feb"',
    "onchanges": 'color="#0f766e"',
    "onchanges_any": 'color="#0f766e"',
    "onfail": 'color="#c62828"',
    "onfail_any": 'color="#c62828"',
    "onfail_all": 'color="#c62828"',
    "prereq": 'color="#7c3aed"',
    "listen": 'color="#b45309" style=dashed constraint=false',
    "delayed": "style=dotted",
    "member": 'color="#999999"',
}
WORDS = {"member": "part of"}
MOST = 60  # letters of a name
FILLS = {
    "ok": "#d8f0dc",
    "changed": "#cfe6ff",
    "would": "#fff0c2",
    "failed": "#ffd4d1",
    "blocked": "#fff0ee",
    "skipped": "#eeeeee",
    "waiting": "#ffffff",
}


def dot(picture: Picture) -> str:
    names = _names(picture)
    lines = [
        "digraph saltern {",
        "  rankdir=LR;",
        '  graph [fontname="Helvetica" fontsize=11];',
        '  node [shape=box style="rounded,filled" fillcolor=white fontname="Helvetica" fontsize=11];',
        '  edge [fontname="Helvetica" fontsize=9];',
    ]
    lines += _dot_items(picture, names, "  ")
    boxes = {item.key: item for item in picture.every() if item.inside is not None}
    for edge in picture.every_edge():
        style = [f'label="{WORDS.get(edge.kind, edge.kind)}"', STYLES.get(edge.kind, "")]
        end = edge.end
        if end in boxes:
            style.append(f'lhead="cluster_{names[end]}"')
            end = _first(boxes[end]) or end
        lines.append(f"  {names[edge.start]} -> {names[end]} [{' '.join(filter(None, style))}];")
    return "\n".join([*lines[:1], "  compound=true;", *lines[1:], "}"]) + "\n"


def _dot_items(picture: Picture, names: dict[str, str], indent: str) -> Iterator[str]:
    for item in picture.items:
        label = _quote(f"{_number_title(item)}\\n{item.below}")
        if item.inside is None:
            fill = f' fillcolor="{FILLS[item.status]}"' if item.status else ""
            yield f"{indent}{names[item.key]} [label={label}{fill}];"
            continue
        yield f"{indent}subgraph cluster_{names[item.key]} {{"
        yield f"{indent}  label={label}; style=dashed;"
        if not item.inside.items:
            yield f'{indent}  {names[item.key]} [label="…" shape=plaintext];'
        yield from _dot_items(item.inside, names, indent + "  ")
        yield f"{indent}}}"


def _first(box: Item) -> str:
    """The first node in a box: in dot, edges connect only nodes."""
    inside = box.inside
    if inside is None or not inside.items:
        return ""
    first = inside.items[0]
    return first.key if first.inside is None else _first(first)


def mermaid(picture: Picture) -> str:
    names = _names(picture)
    lines = ["flowchart LR", *_mermaid_items(picture, names, "  ")]
    for edge in picture.every_edge():
        arrow = "-.->" if edge.kind in ("listen", "delayed") else "-->"
        lines.append(f"  {names[edge.start]} {arrow}|{WORDS.get(edge.kind, edge.kind)}| {names[edge.end]}")
    for status, fill in FILLS.items():
        some = [names[item.key] for item in picture.every() if item.status == status]
        if some:
            lines.append(f"  classDef {status} fill:{fill},color:#111")
            lines.append(f"  class {','.join(some)} {status}")
    return "\n".join(lines) + "\n"


def _mermaid_items(picture: Picture, names: dict[str, str], indent: str) -> Iterator[str]:
    for item in picture.items:
        label = f"{_entities(_number_title(item))}<br/>{_entities(item.below)}"
        if item.inside is None:
            yield f'{indent}{names[item.key]}["{label}"]'
            continue
        yield f'{indent}subgraph {names[item.key]}["{label}"]'
        yield from _mermaid_items(item.inside, names, indent + "  ")
        yield f"{indent}end"


def _names(picture: Picture) -> dict[str, str]:
    return {item.key: f"s{at}" for at, item in enumerate(picture.every(), 1)}


def _number_title(item: Item) -> str:
    title = item.title if len(item.title) <= MOST else f"{item.title[: MOST // 2]}…{item.title[-MOST // 2 :]}"
    return f"{item.number}. {title}" if item.number else title


def _quote(text: str) -> str:
    """Quote a label. Backslashes of names are doubled; that of the line break, which we add, stays."""
    name, _, below = text.rpartition("\\n")
    plain = (safe(part.replace("\n", " ")) for part in (name, below))
    parts = [part.replace("\\", "\\\\").replace('"', '\\"') for part in plain]
    return f'"{parts[0]}\\n{parts[1]}"'


def _entities(text: str) -> str:
    """Escape characters that mermaid would interpret, in its notation: ``#34;``."""
    return "".join(
        letter if letter.isalnum() or letter in " ._/-·:" else f"#{ord(letter)};" for letter in text
    )


WRITERS: dict[str, Callable[[Picture], str]] = {"dot": dot, "mermaid": mermaid}
