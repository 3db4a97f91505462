"""Lays out a picture: the position of everything in it.

Unconnected parts are laid out separately and then packed like words into lines; states without requisites
are in blocks, one for each file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, sqrt

from msgspec import Struct, field

from saltern.views.hubs import apart, part_of
from saltern.views.layers import COLUMN_GAP, ROW_GAP, Drawn, Pair, Point, Size, lay_out
from saltern.views.picture import Edge, Item, Picture

WIDTH, HEIGHT = 216.0, 44.0
PADDING = 14.0
HEADING = 40.0
PART_GAP = 44.0
RATIO = 1.7  # of a screen
LONG, LONGEST = (
    3.2,
    4500.0,
)  # a part that is wider than this many heights, and than this width, is broken into lines;
FLAT, FLATTEST = 10.0, 2000.0  # so is one that is almost a chain
UNORDERED = frozenset({"listen"})  # may point backwards


class Place(Struct):
    """An item with its corner and size."""

    item: Item
    x: float
    y: float
    width: float
    height: float


class Route(Struct):
    """An edge with the points it passes, from border to border."""

    edge: Edge
    points: list[Point]


class Drawing(Struct):
    """All coordinates are relative to the whole picture; a box comes before its contents."""

    places: list[Place] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0


def laid_out(picture: Picture) -> Drawing:
    picture = apart(picture)
    insides = {item.key: laid_out(item.inside) for item in picture.items if item.inside is not None}
    sizes = {item.key: _size(insides.get(item.key)) for item in picture.items}
    pairs = [
        (edge.start, edge.end)
        for edge in picture.edges
        if edge.kind not in UNORDERED and edge.start in sizes and edge.end in sizes
    ]
    parts = [_part(picture, keys, sizes, pairs) for keys in _groups(picture)]
    return _assemble(picture, _pack_parts(parts), sizes, insides)


def _size(inside: Drawing | None) -> Size:
    if inside is None:
        return WIDTH, HEIGHT
    return max(inside.width, WIDTH - 2 * PADDING) + 2 * PADDING, inside.height + HEADING + PADDING


def _groups(picture: Picture) -> list[list[str]]:
    """The keys of each connected part; states without edges by their files."""
    parts = part_of((item.key for item in picture.items), picture.edges)
    tied = {key for edge in picture.edges for key in (edge.start, edge.end)}
    groups: dict[str, list[str]] = {}
    for item in picture.items:
        lone = item.key not in tied and item.inside is None
        home = f"\0{item.below.rpartition(' · ')[2]}" if lone else parts[item.key]
        groups.setdefault(home, []).append(item.key)
    return list(groups.values())


def _part(picture: Picture, keys: list[str], sizes: Mapping[str, Size], pairs: Sequence[Pair]) -> Drawn:
    mine = set(keys)
    inner = [pair for pair in pairs if pair[0] in mine]
    some = {key: sizes[key] for key in keys}
    if not inner and not any(edge.start in mine for edge in picture.edges):
        return _grid(some)
    drawn = lay_out(some, inner)
    return _break_lines(drawn, some) if _too_long(drawn) else drawn


def _too_long(drawn: Drawn) -> bool:
    limits = ((LONGEST, LONG), (FLATTEST, FLAT))
    return any(drawn.width > max(most, ratio * drawn.height) for most, ratio in limits)


def _grid(sizes: Mapping[str, Size]) -> Drawn:
    """Lay out states without edges in columns, from top to bottom."""
    drawn = Drawn()
    rows = max(1, ceil(sqrt(len(sizes) * RATIO * 2.2)))
    for at, key in enumerate(sizes):
        column, row = divmod(at, rows)
        drawn.at[key] = (column * (WIDTH + ROW_GAP), row * (HEIGHT + ROW_GAP))
    drawn.width = max(x for x, _ in drawn.at.values()) + WIDTH
    drawn.height = max(y for _, y in drawn.at.values()) + HEIGHT
    return drawn


def _break_lines(drawn: Drawn, sizes: Mapping[str, Size]) -> Drawn:
    """Break a long chain into lines, like text."""
    step = drawn.height + PART_GAP
    columns = sorted({x for x, _ in drawn.at.values()})
    widest = max(sqrt(drawn.width * step * RATIO), 4 * (WIDTH + COLUMN_GAP))
    lines: dict[float, tuple[int, float]] = {}
    line, begin = 0, columns[0]
    for x in columns:
        if x + WIDTH - begin > widest:
            line, begin = line + 1, x
        lines[x] = (line, begin)

    def move(point: Point) -> Point:
        x, y = point
        line, begin = lines[max((one for one in columns if one <= x + 0.01), default=columns[0])]
        return x - begin, y + line * step

    result = Drawn({key: move(point) for key, point in drawn.at.items()})
    result.bends = {pair: [move(point) for point in points] for pair, points in drawn.bends.items()}
    result.width = max(result.at[key][0] + sizes[key][0] for key in result.at)
    result.height = max(result.at[key][1] + sizes[key][1] for key in result.at)
    return result


def _pack_parts(parts: list[Drawn]) -> Drawn:
    """Put each part, in order, as high as possible: the first ones are on top, and small ones fill gaps."""
    area = sum((part.width + PART_GAP) * (part.height + PART_GAP) for part in parts)
    widest = max([sqrt(area * RATIO), *(part.width for part in parts)], default=0.0)
    whole = Drawn()
    taken: list[tuple[float, float, float]] = [(0.0, widest + PART_GAP, 0.0)]  # from, to, how far down
    for part in parts:
        x, y = _highest(taken, part.width, widest)
        taken = _cover(taken, x, x + part.width + PART_GAP, y + part.height + PART_GAP)
        whole.at.update((key, (px + x, py + y)) for key, (px, py) in part.at.items())
        for pair, points in part.bends.items():
            whole.bends[pair] = [(px + x, py + y) for px, py in points]
        whole.width = max(whole.width, x + part.width)
        whole.height = max(whole.height, y + part.height)
    return whole


def _highest(taken: Sequence[tuple[float, float, float]], width: float, widest: float) -> Point:
    spots = [
        (max(low for begin, end, low in taken if begin < x + width and end > x), x)
        for x, _, _ in taken
        if x + width <= widest + 0.01
    ]
    y, x = min(spots)
    return x, y


def _cover(
    taken: Sequence[tuple[float, float, float]], x: float, until: float, low: float
) -> list[tuple[float, float, float]]:
    """The skyline with one more part."""
    kept = [(begin, min(end, x), deep) for begin, end, deep in taken if begin < x]
    rest = [(max(begin, until), end, deep) for begin, end, deep in taken if end > until]
    return [*kept, (x, until, low), *rest]


def _assemble(
    picture: Picture, drawn: Drawn, sizes: Mapping[str, Size], insides: Mapping[str, Drawing]
) -> Drawing:
    result = Drawing(width=drawn.width, height=drawn.height)
    places: dict[str, Place] = {}
    for item in picture.items:
        place = Place(item, *drawn.at[item.key], *sizes[item.key])
        places[item.key] = place
        result.places.append(place)
        if item.key in insides:
            _inset(result, insides[item.key], place)
    result.routes += _routes(picture.edges, places, drawn)
    return result


def _inset(result: Drawing, inside: Drawing, box: Place) -> None:
    dx, dy = box.x + PADDING, box.y + HEADING
    for one in inside.places:
        result.places.append(Place(one.item, one.x + dx, one.y + dy, one.width, one.height))
    for route in inside.routes:
        result.routes.append(Route(route.edge, [(x + dx, y + dy) for x, y in route.points]))


def _routes(edges: Iterable[Edge], places: Mapping[str, Place], drawn: Drawn) -> Iterable[Route]:
    for edge in edges:
        if edge.start in places and edge.end in places:
            start, end = places[edge.start], places[edge.end]
            between = drawn.bends.get((edge.start, edge.end), [])
            first = (start.x + start.width, _entry(start))
            yield Route(edge, [first, *between, (end.x, _entry(end))])


def _entry(place: Place) -> float:
    """Edges meet a box at its heading."""
    return place.y + (place.height if place.item.inside is None else HEADING) / 2
