"""A plan of many thousand states is drawn by its files."""

from __future__ import annotations

from tests import kit

from saltern.engine.show import show_plan
from saltern.language.diagnostics import Diagnostics
from saltern.views.fold import MOST_DRAWN, picture_of
from saltern.views.graph_page import graph_page
from saltern.views.picture import Edge, Picture


def picture(files: dict[str, str]) -> Picture:
    with kit.tree(files) as made:
        return picture_of(show_plan(made.session(), kit.request_for(files, {"sls": ["main"]}), Diagnostics()))


def test_a_large_plan_has_one_item_for_each_file_and_one_edge_for_each_kind() -> None:
    many = MOST_DRAWN
    files = {
        "main.sls": "include: [a]\n"
        + "".join(f"m{at}:\n  test.nop:\n    - require:\n      - test: 'a*'\n" for at in range(many // 2)),
        "a.sls": "".join(f"a{at}: test.nop\n" for at in range(many)),
    }
    drawn = picture(files)
    assert [(item.kind, item.title, item.below) for item in drawn.items] == [
        ("sls", "a", f"{many} states"),
        ("sls", "main", f"{many // 2} states"),
    ]
    assert drawn.edges == [Edge("require", "0", "1")]
    assert "main" in graph_page(drawn, "x")


def test_a_small_plan_is_drawn_state_by_state() -> None:
    drawn = picture({"main.sls": "a: test.nop\nb: test.nop\n"})
    assert [item.kind for item in drawn.items] == ["state", "state"]
