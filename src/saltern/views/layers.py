"""Lays out a connected graph in columns, from what runs first to what runs last.

The usual four steps: give each node a column, cut long edges into pieces of one column each, order the
columns so that few edges cross, then move each node towards its neighbours without changing that order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import inf, sqrt

from msgspec import Struct, field

SWEEPS = 8
COLUMN_GAP = 72.0
ROW_GAP = 14.0
LEAST_ROWS, ROWS_BY_SIZE = 12, 1.4  # limits the height of a column when many states wait for one

Size = tuple[float, float]
Point = tuple[float, float]
Pair = tuple[str, str]


class Drawn(Struct):
    """The upper left corners of nodes, the points that edges pass through, and the total size."""

    at: dict[str, Point] = field(default_factory=dict)
    bends: dict[Pair, list[Point]] = field(default_factory=dict)
    width: float = 0.0
    height: float = 0.0


def lay_out(sizes: Mapping[str, Size], pairs: Sequence[Pair]) -> Drawn:
    """Lay out the graph. ``pairs`` must have no cycle. The order of ``sizes`` breaks ties."""
    graph = _Graph(sizes, pairs)
    graph.assign_columns()
    graph.cut_long_edges()
    graph.untangle()
    return graph.draw()


class _Graph:
    def __init__(self, sizes: Mapping[str, Size], pairs: Sequence[Pair]) -> None:
        self.sizes: dict[str, Size] = dict(sizes)
        self.pairs = list(dict.fromkeys(pairs))
        self.column: dict[str, int] = {}
        self.before: dict[str, list[str]] = {key: [] for key in sizes}
        self.after: dict[str, list[str]] = {key: [] for key in sizes}
        for start, end in self.pairs:
            self.before[end].append(start)
            self.after[start].append(end)
        self.rows: list[list[str]] = []
        self.pieces: dict[Pair, list[str]] = {}
        self.half = 0.0  # of the height of all

    def assign_columns(self) -> None:
        """Put each node as far left as its predecessors and the height of a column allow; then move nodes
        without predecessors right, to the nodes that wait for them.
        """
        most = max(LEAST_ROWS, int(ROWS_BY_SIZE * sqrt(len(self.sizes))))
        used: dict[int, int] = {}
        order = self._topological()
        for key in order:
            column = max((self.column[one] + 1 for one in self.before[key]), default=0)
            while used.get(column, 0) >= most:
                column += 1
            self.column[key] = column
            used[column] = used.get(column, 0) + 1
        for key in reversed(order):
            if self.after[key] and not self.before[key]:
                near = min(self.column[one] for one in self.after[key]) - 1
                if used.get(near, 0) < most:
                    used[self.column[key]] -= 1
                    self.column[key] = near
                    used[near] = used.get(near, 0) + 1
        self._close_gaps()

    def _topological(self) -> list[str]:
        waiting = {key: len(self.before[key]) for key in self.sizes}
        order = [key for key, count in waiting.items() if not count]
        for key in order:
            for later in self.after[key]:
                waiting[later] -= 1
                if not waiting[later]:
                    order.append(later)
        return order

    def _close_gaps(self) -> None:
        known = {column: at for at, column in enumerate(sorted(set(self.column.values())))}
        self.column = {key: known[column] for key, column in self.column.items()}

    def cut_long_edges(self) -> None:
        """Cut edges into pieces of one column. Edges from the same node share pieces, as one line that
        branches.
        """
        for start, end in self.pairs:
            first, last = self.column[start], self.column[end]
            chain = [f"{start}\0{at}" for at in range(first + 1, last)]
            if chain:
                self.pieces[start, end] = chain
            for at, piece in enumerate(chain, first + 1):
                self.sizes[piece], self.column[piece] = (0.0, 4.0), at
        links = [
            link
            for start, end in self.pairs
            for link in pairwise([start, *self.pieces.get((start, end), ()), end])
        ]
        self.before = {key: [] for key in self.sizes}
        self.after = {key: [] for key in self.sizes}
        for one, other in dict.fromkeys(links):
            self.after[one].append(other)
            self.before[other].append(one)
        self.rows = [[] for _ in range(max(self.column.values(), default=0) + 1)]
        for key in self.sizes:
            self.rows[self.column[key]].append(key)

    def untangle(self) -> None:
        """Reorder each column by the positions of its neighbours, forwards and backwards."""
        best, fewest = [list(row) for row in self.rows], self.crossings()
        for sweep in range(SWEEPS):
            if not fewest:
                break
            forth = sweep % 2 == 0
            neighbours = self.before if forth else self.after
            columns = range(1, len(self.rows)) if forth else range(len(self.rows) - 2, -1, -1)
            for at in columns:
                beside = {key: place for place, key in enumerate(self.rows[at - 1 if forth else at + 1])}
                self.rows[at] = _by_neighbours(self.rows[at], neighbours, beside)
            if (count := self.crossings()) < fewest:
                best, fewest = [list(row) for row in self.rows], count
        self.rows = best

    def crossings(self) -> int:
        return sum(_crossings(left, right, self.after) for left, right in pairwise(self.rows))

    def draw(self) -> Drawn:
        middle = self.middles()
        result = Drawn()
        x = 0.0
        top = min((y - self.sizes[key][1] / 2 for key, y in middle.items()), default=0.0)
        xs: list[float] = []
        for row in self.rows:
            width = max((self.sizes[key][0] for key in row), default=0.0)
            for key in row:
                result.at[key] = (x, middle[key] - self.sizes[key][1] / 2 - top)
            xs.append(x)
            x += width + COLUMN_GAP
        result.width = x - COLUMN_GAP
        result.height = max((result.at[key][1] + self.sizes[key][1] for key in result.at), default=0.0)
        straight: dict[str, list[Point]] = {}
        for piece in {piece: None for chain in self.pieces.values() for piece in chain}:
            left, y = xs[self.column[piece]], result.at.pop(piece)[1] + 2.0
            width = max(self.sizes[key][0] for key in self.rows[self.column[piece]])
            straight[piece] = [(left, y), (left + width, y)]
        for pair, chain in self.pieces.items():
            result.bends[pair] = [point for piece in chain for point in straight[piece]]
        return result

    def middles(self) -> dict[str, float]:
        """The middle of each node: as near to its neighbours as its column allows, within the height of
        the highest column.
        """
        middle: dict[str, float] = {}
        heights = [sum(self.sizes[key][1] + ROW_GAP for key in row) - ROW_GAP for row in self.rows]
        self.half = max(heights, default=0.0) / 2
        for row, height in zip(self.rows, heights, strict=True):
            y = -height / 2
            for key in row:
                middle[key] = y + self.sizes[key][1] / 2
                y += self.sizes[key][1] + ROW_GAP
        for sweep in range(SWEEPS):
            forth = sweep % 2 == 0
            neighbours = self.before if forth else self.after
            for row in self.rows if forth else reversed(self.rows):
                self._settle(row, neighbours, middle)
        return middle

    def _settle(self, row: list[str], neighbours: Mapping[str, list[str]], middle: dict[str, float]) -> None:
        wanted = []
        for key in row:
            beside = [middle[one] for one in neighbours[key]]
            wanted.append(sum(beside) / len(beside) if beside else middle[key])
        gaps = [(self.sizes[one][1] + self.sizes[other][1]) / 2 + ROW_GAP for one, other in pairwise(row)]
        low = self.sizes[row[0]][1] / 2 - self.half
        high = self.half - self.sizes[row[-1]][1] / 2
        middle.update(zip(row, spread(wanted, gaps, low, high), strict=True))


def _by_neighbours(
    row: list[str], neighbours: Mapping[str, list[str]], beside: Mapping[str, int]
) -> list[str]:
    """The row ordered by its neighbours; nodes without neighbours keep their relative position."""

    def place(item: tuple[int, str]) -> float:
        at, key = item
        places = [beside[one] for one in neighbours[key] if one in beside]
        return sum(places) / len(places) if places else at * len(beside) / max(len(row), 1)

    return [key for _, key in sorted(enumerate(row), key=place)]


def _crossings(left: list[str], right: list[str], after: Mapping[str, list[str]]) -> int:
    """The number of pairs of edges that cross, counted with a tree of sums."""
    place = {key: at for at, key in enumerate(right)}
    sums = [0] * (len(right) + 1)
    crossed = seen = 0
    for key in left:
        ends = sorted(place[one] for one in after[key])
        for end in ends:
            crossed += seen - _total(sums, end + 1)
        for end in ends:
            _count(sums, end + 1)
            seen += 1
    return crossed


def _total(sums: list[int], at: int) -> int:
    total = 0
    while at:
        total += sums[at]
        at &= at - 1
    return total


def _count(sums: list[int], at: int) -> None:
    while at < len(sums):
        sums[at] += 1
        at += at & -at


def spread(
    wanted: Sequence[float], gaps: Sequence[float], low: float = -inf, high: float = inf
) -> list[float]:
    """The positions nearest to the wanted ones: in order, ``gaps`` apart, from ``low`` to ``high``.

    Apart from the gaps, it is an isotonic regression: neighbours that clash become a group at the mean of
    their wanted positions.
    """
    offsets = [0.0]
    for gap in gaps:
        offsets.append(offsets[-1] + gap)
    groups: list[tuple[float, int]] = []  # (sum of wanted positions, number of members)
    for want, offset in zip(wanted, offsets, strict=False):
        total, count = want - offset, 1
        while groups and groups[-1][0] * count > total * groups[-1][1]:
            before, members = groups.pop()
            total, count = total + before, count + members
        groups.append((total, count))
    most = max(low, high - offsets[-1])
    places = [min(max(total / count, low), most) for total, count in groups for _ in range(count)]
    return [place + offset for place, offset in zip(places, offsets, strict=False)]
