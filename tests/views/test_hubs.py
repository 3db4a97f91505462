"""A hub is drawn once for each part of a picture that only it holds together."""

from __future__ import annotations

from saltern.views.hubs import COPY, apart
from saltern.views.letters import cut, extent
from saltern.views.picture import Edge, Item, Picture


def hub_of(parts: int, *, bridge: bool = False) -> Picture:
    keys = ["hub", *(f"{kind}{number}" for number in range(parts) for kind in "ab")]
    edges = [Edge("require", "hub", f"a{number}") for number in range(parts)]
    edges += [Edge("watch", f"a{number}", f"b{number}") for number in range(parts)]
    if bridge:
        edges += [Edge("require", f"a{number}", f"b{number + 1}") for number in range(parts - 1)]
    return Picture(items=[Item(key=key, kind="state", title=key) for key in keys], edges=edges)


def test_each_part_has_a_copy_in_front_of_it() -> None:
    picture = apart(hub_of(8))
    copies = [item for item in picture.items if item.kind == "copy"]
    assert [copy.of for copy in copies] == ["hub"] * 8
    assert {copy.below for copy in copies} == {COPY}
    for number, copy in enumerate(copies):
        assert Edge("require", copy.key, f"a{number}") in picture.edges
        assert picture.items.index(copy) + 1 == [item.key for item in picture.items].index(f"a{number}")


def test_what_hangs_together_anyway_is_left_as_it_is() -> None:
    picture = hub_of(8, bridge=True)
    assert apart(picture) is picture


def test_few_that_wait_make_no_hub() -> None:
    picture = hub_of(3)
    assert apart(picture) is picture


def test_states_that_wait_for_nothing_else_stay_with_the_hub() -> None:
    items = [Item(key=key, kind="state", title=key) for key in ["hub", *map(str, range(30))]]
    picture = Picture(items=items, edges=[Edge("require", "hub", str(number)) for number in range(30)])
    assert apart(picture) is picture


def test_a_name_is_cut_in_its_middle_so_that_it_fits() -> None:
    name = "/etc/nginx/conf.d/a-very-long-name-of-a-site.conf"
    short = cut(name, 180, 13, bold=True)
    assert extent(short, 13, bold=True) <= 180
    first, _, last = short.partition("…")
    assert name.startswith(first) and name.endswith(last) and first and last
    assert cut("short", 180, 13) == "short"
    assert cut("日本語" * 20, 100, 13).count("…") == 1
