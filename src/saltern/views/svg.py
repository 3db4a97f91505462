"""Writes a drawing as self-contained SVG; its colours follow the reader's light or dark setting."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from saltern.report.text import safe_line
from saltern.views.assets import still_style
from saltern.views.layers import Point
from saltern.views.layout import HEADING, PADDING, Drawing, Place
from saltern.views.letters import cut, extent

MARGIN = 32.0  # room for a line that turns
TITLE, BELOW, NUMBER = 13.0, 10.5, 11.0  # sizes of the letters, as in drawing.css
LEFT, RIGHT = 12.0, 10.0


def svg(drawing: Drawing, *, title: str, standalone: bool = True) -> str:
    """The SVG of a drawing. ``standalone``: with its style, which a page has already."""
    width, height = drawing.width + 2 * MARGIN, drawing.height + 2 * MARGIN
    head = f'viewBox="{-MARGIN:g} {-MARGIN:g} {width:.0f} {height:.0f}"'
    size = f' width="{width:.0f}" height="{height:.0f}"' if standalone else ""
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {head}{size} id="graph" role="img">']
    parts.append(f"<title>{_text(title)}</title>")
    if standalone:
        parts.append(f"<style>{still_style()}</style>")
        parts.append(f'<rect class="paper" x="{-MARGIN:g}" y="{-MARGIN:g}" width="100%" height="100%"/>')
    boxes = [place for place in drawing.places if place.item.inside is not None]
    parts += ['<g id="view">', *map(_box, boxes), *_edges(drawing)]
    parts += [_node(place) for place in drawing.places if place.item.inside is None]
    parts.append("</g></svg>\n")
    return "\n".join(parts)


def _edges(drawing: Drawing) -> Iterator[str]:
    originals = {place.item.key: place.item.of for place in drawing.places if place.item.of}
    for route in drawing.routes:
        kind, start, (x, y) = route.edge.kind, route.edge.start, route.points[-1]
        ends = f'data-from="{_text(originals.get(start, start))}" data-to="{_text(route.edge.end)}"'
        if start in originals:
            ends += f' data-copy="{_text(start)}"'
        yield (
            f'<g class="edge e-{kind}" {ends}><path d="{path(route.points)}"/>'
            f'<path class="tip" d="M{x:.0f} {y:.1f}l-8 -4v8z"/><title>{_text(kind)}</title></g>'
        )


def path(points: list[Point]) -> str:
    """A curve that is horizontal at its ends and straight within each column."""
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
    """A curve to the beginning of a later line, or further left; it leads around other items."""
    middle = (y + ny) / 2
    return (
        f"C{x + 36:.0f} {y:.1f} {x + 36:.0f} {middle:.1f} {x:.0f} {middle:.1f}"
        f"H{nx:.0f}C{nx - 36:.0f} {middle:.1f} {nx - 36:.0f} {ny:.1f} {nx:.0f} {ny:.1f}"
    )


def _box(place: Place) -> str:
    item, room = place.item, place.width - 2 * PADDING
    title, below = cut(item.title, room, TITLE, bold=True), cut(item.below, room, BELOW)
    return (
        f'<g class="box" data-key="{_text(item.key)}" {_translation(place)}>'
        f'<rect width="{place.width:.1f}" height="{place.height:.1f}" rx="10"/>'
        f'<text class="title" x="{PADDING:g}" y="18">{_text(title)}</text>'
        f'<text class="below" x="{PADDING:g}" y="{HEADING - 8:g}">{_text(below)}</text></g>'
    )


def _node(place: Place) -> str:
    item = place.item
    status = f" s-{item.status}" if item.status else ""
    number = str(item.number or "")
    room = place.width - LEFT - RIGHT
    title = cut(item.title, room - (extent(number, NUMBER) + 6 if number else 0), TITLE, bold=True)
    shown = f'<text class="number" x="{place.width - RIGHT:g}" y="18">{number}</text>' if number else ""
    who = (
        f'data-copy="{_text(item.key)}" data-of="{_text(item.of)}"'
        if item.of
        else f'data-key="{_text(item.key)}"'
    )
    return (
        f'<g class="node n-{item.kind}{status}" {who} {_translation(place)}>'
        f'<rect width="{place.width:.0f}" height="{place.height:.0f}" rx="6"/>'
        f'<path class="stripe" d="M0 6v32"/>'
        f'<text class="title" x="{LEFT:g}" y="18">{_text(title)}</text>{shown}'
        f'<text class="below" x="{LEFT:g}" y="34">{_text(cut(item.below, room, BELOW))}</text>'
        f"<title>{_text(item.title)}</title></g>"
    )


def _translation(place: Place) -> str:
    return f'transform="translate({place.x:.1f} {place.y:.1f})" tabindex="-1"'


def _text(text: str) -> str:
    """Escape text for XML; control characters, which XML cannot contain, and direction marks become
    escapes.
    """
    return escape(safe_line(text))
