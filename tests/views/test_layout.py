"""A layout keeps what it promises: nothing overlaps, and time goes from left to right."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from saltern.views.layers import spread
from saltern.views.layout import Drawing, Place, laid_out
from saltern.views.picture import Edge, Item, Picture

SIZES = st.integers(1, 40)


@st.composite
def pictures(draw: st.DrawFn) -> Picture:
    """Any graph without a cycle: edges lead from a lower number to a higher one."""
    size = draw(SIZES)
    items = [Item(key=str(at), kind="state", title=str(at), below=f"x · {at % 3}") for at in range(size)]
    ends = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(lambda one: one[0] < one[1])
    pairs = draw(st.lists(ends, max_size=60)) if size > 1 else []
    edges = [Edge("require", str(start), str(end)) for start, end in pairs]
    if draw(st.booleans()):
        inner = Picture(items=[Item(key=f"in{at}", kind="state", title="x") for at in range(draw(SIZES))])
        items.append(Item(key="box", kind="box", title="box", inside=inner))
        edges.append(Edge("delayed", "0", "box"))
    return Picture(items=items, edges=edges)


def overlap(one: Place, other: Place) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


@given(pictures())
def test_no_two_states_overlap(picture: Picture) -> None:
    places = [place for place in laid_out(picture).places if place.item.inside is None]
    assert not any(overlap(one, other) for at, one in enumerate(places) for other in places[:at])


@given(pictures())
def test_everything_is_within_the_picture(picture: Picture) -> None:
    drawing = laid_out(picture)
    assert sum(not place.item.of for place in drawing.places) == len(list(picture.every()))
    for place in drawing.places:
        assert place.x >= -0.1 and place.x + place.width <= drawing.width + 0.1
        assert place.y >= -0.1 and place.y + place.height <= drawing.height + 0.1


@given(pictures())
def test_what_waits_stands_to_the_right_of_what_it_waits_for(picture: Picture) -> None:
    drawing = laid_out(picture)
    if not is_broken(drawing):
        assert all(route.points[0][0] < route.points[-1][0] for route in drawing.routes)


def is_broken(drawing: Drawing) -> bool:
    """A long chain goes on in a new line."""
    return any(route.points[0][0] > route.points[-1][0] for route in drawing.routes) and drawing.width > 1000


def chain(count: int) -> Picture:
    items = [Item(key=str(at), kind="state", title=str(at)) for at in range(count)]
    return Picture(items=items, edges=[Edge("require", str(at), str(at + 1)) for at in range(count - 1)])


def test_a_chain_of_a_thousand_states_is_broken_into_lines() -> None:
    drawing = laid_out(chain(1000))
    assert 0.4 < drawing.width / drawing.height < 4


def test_an_empty_picture_has_a_layout() -> None:
    assert laid_out(Picture()).places == []


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=30), st.floats(1, 50))
def test_spread_keeps_the_gaps_and_moves_nothing_that_has_room(wanted: list[float], gap: float) -> None:
    places = spread(wanted, [gap] * (len(wanted) - 1))
    steps = [other - one for one, other in pairwise(places)]
    assert all(step >= gap - 1e-6 for step in steps)
    roomy = all(other - one >= gap for one, other in pairwise(wanted))
    if roomy:
        assert all(abs(one - other) < 1e-6 for one, other in zip(places, wanted, strict=True))
