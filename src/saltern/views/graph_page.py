"""The page of a picture: drawn in advance; the browser moves it and answers clicks."""

from __future__ import annotations

from saltern.views.assets import page
from saltern.views.layout import laid_out
from saltern.views.picture import Picture
from saltern.views.svg import svg


def graph_svg(picture: Picture, title: str) -> str:
    return svg(laid_out(picture), title=title)


def graph_page(picture: Picture, title: str) -> str:
    boxes = {inner.key: box.key for box in picture.every() if box.inside for inner in box.inside.items}
    items = {
        item.key: {
            "kind": item.kind,
            "title": item.title,
            "below": item.below,
            "number": item.number,
            "status": item.status,
            **({"box": boxes[item.key]} if item.key in boxes else {}),
            **item.facts,
        }
        for item in picture.every()
    }
    kinds = sorted({edge.kind for edge in picture.every_edge()})
    data = {"title": title, "items": items, "kinds": kinds}
    return page(
        "graph", title=title, data=data, drawing=svg(laid_out(picture), title=title, standalone=False)
    )
