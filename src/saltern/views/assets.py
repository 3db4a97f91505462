"""Style, script and frame of the pages, which are assembled here.

A page is one file: it fetches nothing, and its policy forbids that.
"""

from __future__ import annotations

import os
import re
from html import escape

from msgspec import json

SCRIPTS = {
    "graph": ("page.js", "graph_eye.js", "graph_labels.js", "graph_states.js", "graph_keys.js"),
    "run": ("page.js", "run_changes.js", "run_rows.js"),
}
FOLDER = os.path.join(os.path.dirname(__file__), "page")


def asset(name: str) -> str:
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def still_style() -> str:
    """The style of a standalone picture, with plain colours: many programs that read SVG do not know
    variables.
    """
    pairs = re.findall(r"(--[\w-]+): light-dark\((#\w+), (#\w+)\)", asset("colours.css"))
    light, dark = asset("drawing.css"), asset("drawing.css")
    for name, bright, dim in pairs:
        light = light.replace(f"var({name})", bright)
        dark = dark.replace(f"var({name})", dim)
    return f"{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n"


def page(name: str, *, title: str, data: object, drawing: str = "") -> str:
    """Make a page; ``name`` is that of its style, scripts and body. ``data`` is never read as HTML."""
    style = asset("colours.css") + asset("page.css") + (asset("drawing.css") if drawing else "")
    parts = {
        "title": escape(title),
        "style": style + asset(f"{name}.css"),
        "body": asset(f"{name}.html").replace("{{drawing}}", drawing),
        "data": _harmless(data),
        "script": "".join(map(asset, SCRIPTS[name])),
    }
    frame = asset("frame.html").split("{{")
    text = frame[0]
    for piece in frame[1:]:
        key, _, rest = piece.partition("}}")
        text += parts[key] + rest
    return text


def _harmless(data: object) -> str:
    """Escape JSON for a script element, so that nothing in it looks like the end of the element."""
    encoded = json.encode(data, enc_hook=str).decode("utf-8", "replace")
    return encoded.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
