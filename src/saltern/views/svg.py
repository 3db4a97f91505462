"""A drawing → SVG that needs nothing else: its colours follow the reader's light or dark setting."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from saltern.views.assets import asset
from saltern.views.layers import Point
from saltern.views.layout import HEADING, Drawing, Place, Route

MARGIN = 24.0
TITLE_LETTERS = 25
BELOW_LETTERS = 36


def svg(drawing: Drawing, *, title: str, standalone: bool = True) -> str:
    """``standalone``: with its style; within a page that is the page's own."""
    width, height = drawing.width + 2 * MARGIN, drawing.height + 2 * MARGIN
    head = f'viewBox="{-MARGIN:g} {-MARGIN:g} {width:.0f} {height:.0f}"'
    size = f' width="{width:.0f}" height="{height:.0f}"' if standalone else ""
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {head}{size} id="graph" role="img">']
    parts.append(f"<title>{_text(title)}</title>")
    if standalone:
        parts.append(f"<style>{asset('colours.css')}{asset('drawing.css')}</style>")
        parts.append(f'<rect class="paper" x="{-MARGIN:g}" y="{-MARGIN:g}" width="100%" height="100%"/>')
    boxes = [place for place in drawing.places if place.item.inside is not None]
    parts += ['<g id="view">', *map(_box, boxes), *_edges(drawing.routes)]
    parts += [_node(place) for place in drawing.places if place.item.inside is None]
    parts.append("</g></svg>\n")
    return "\n".join(parts)


def _edges(routes: list[Route]) -> Iterator[str]:
    for route in routes:
        kind, (x, y) = route.edge.kind, route.points[-1]
        ends = f'data-from="{_text(route.edge.start)}" data-to="{_text(route.edge.end)}"'
        yield (
            f'<g class="edge e-{kind}" {ends}><path d="{path(route.points)}"/>'
            f'<path class="tip" d="M{x:.0f} {y:.1f}l-8 -4v8z"/><title>{_text(kind)}</title></g>'
        )


def path(points: list[Point]) -> str:
    """A curve that leaves and enters level, and passes each column straight."""
    x, y = points[0]
    parts = [f"M{x:.0f} {y:.1f}"]
    for nx, ny in points[1:]:
        if abs(ny - y) < 0.5 and nx >= x:
            parts.append(f"H{nx:.0f}")
        elif nx > x:
            half = (x + nx) / 2
            parts.append(f"C{half:.0f} {y:.1f} {half:.0f} {ny:.1f} {nx:.0f} {ny:.1f}")
        else:
            parts.append(_back(x, y, nx, ny))
        x, y = nx, ny
    return "".join(parts)


def _back(x: float, y: float, nx: float, ny: float) -> str:
    """To the begin of a later line, or to something further left: around, and never through."""
    middle = (y + ny) / 2
    return (
        f"C{x + 36:.0f} {y:.1f} {x + 36:.0f} {middle:.1f} {x:.0f} {middle:.1f}"
        f"H{nx:.0f}C{nx - 36:.0f} {middle:.1f} {nx - 36:.0f} {ny:.1f} {nx:.0f} {ny:.1f}"
    )


def _box(place: Place) -> str:
    item = place.item
    return (
        f'<g class="box" data-key="{_text(item.key)}" {_moved(place)}>'
        f'<rect width="{place.width:.1f}" height="{place.height:.1f}" rx="10"/>'
        f'<text class="title" x="14" y="18">{_text(item.title)}</text>'
        f'<text class="below" x="14" y="{HEADING - 8:g}">{_text(item.below)}</text></g>'
    )


def _node(place: Place) -> str:
    item = place.item
    status = f" s-{item.status}" if item.status else ""
    number = f'<text class="number" x="206" y="18">{item.number}</text>' if item.number else ""
    letters = TITLE_LETTERS - len(str(item.number or ""))
    return (
        f'<g class="node n-{item.kind}{status}" data-key="{_text(item.key)}" {_moved(place)}>'
        f'<rect width="{place.width:.0f}" height="{place.height:.0f}" rx="6"/>'
        f'<path class="stripe" d="M0 6v32"/>'
        f'<text class="title" x="12" y="18">{_text(_cut(item.title, letters))}</text>{number}'
        f'<text class="below" x="12" y="34">{_text(_cut(item.below, BELOW_LETTERS))}</text>'
        f"<title>{_text(item.title)}</title></g>"
    )


def _moved(place: Place) -> str:
    return f'transform="translate({place.x:.1f} {place.y:.1f})" tabindex="-1"'


def _cut(text: str, letters: int) -> str:
    """Long names are told apart by both of their ends."""
    text = " ".join(text.split())
    if len(text) <= letters:
        return text
    tail = letters // 2
    return f"{text[: letters - tail - 1]}…{text[-tail:]}"


def _text(text: str) -> str:
    """No control characters: XML has no way to write them."""
    return escape("".join(letter if letter.isprintable() else " " for letter in text))
