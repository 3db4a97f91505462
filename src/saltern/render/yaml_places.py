"""Find the place of a value in a YAML text.

Data is built without places, since they cost more than the data. To report a problem, the
text is parsed again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from saltern.language.source import Path
from saltern.render.yaml import plain

if TYPE_CHECKING:
    from yaml.nodes import Node


def locate(text: str, path: Path) -> tuple[int, int]:
    """The line and column (from 1) of the value at ``path``, or of the last step found.

    Parses the text again and keeps the result: one problem rarely comes alone. Called only to report a
    problem.
    """
    node = _compose(text)
    if node is False:
        return 0, 0
    if node is None:
        return 1, 1
    place = node.start_mark
    for step in path:
        found = _step(node, step)
        if found is None:
            break
        node, place = found
    return place.line + 1, place.column + 1


def end_of_list(text: str, key: str) -> tuple[str, int]:
    """How the value of a top-level key is written: ``list``, ``flow``, ``empty``, ``other`` or ``missing``;
    and the number of lines up to its end."""
    node = _compose(text)
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    value = next((value for name, value in pairs if name.value == key), None)
    if value is None:
        return "missing", 0
    lines = value.end_mark.line + (value.end_mark.column > 0)
    if isinstance(value, yaml.SequenceNode):
        return ("flow" if value.flow_style and value.value else "list"), lines
    return ("other" if value.value else "empty"), lines


def list_items(text: str, key: str) -> tuple[list[tuple[int, int]], int] | None:
    """Line and column (from 0) of each item of a top-level block list, and the line
    after its last item; None if there is no such list."""
    node = _compose(text)
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    value = next((value for name, value in pairs if name.value == key), None)
    if not isinstance(value, yaml.SequenceNode) or value.flow_style:
        return None
    starts = [(item.start_mark.line, item.start_mark.column) for item in value.value]
    return starts, _last_line(value) + 1


def _last_line(node: Any) -> int:
    """The line (from 0) of the last content of a node: its own end mark is after comments."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    end = node.end_mark
    return int(end.line if end.column or end.line == node.start_mark.line else end.line - 1)


_last: list[tuple[str, Any]] = []  # the most recently parsed texts, and their nodes


def forget_texts() -> None:
    """Forget the parsed texts."""
    _last.clear()


def _compose(text: str) -> Any:
    """The nodes of a text; None if it is empty, False if it cannot be composed."""
    for known, node in _last:
        if known is text or known == text:
            return node
    try:
        node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError, UnicodeError):
        node = False
    _last.insert(0, (text, node))
    del _last[8:]
    return node


def _keys(node: Any) -> dict[str, tuple[Node, Any]]:
    """The keys of a mapping as written; cached in the node."""
    known: dict[str, tuple[Node, Any]] | None = getattr(node, "by_key", None)
    if known is None:
        known = {}
        for key, value in node.value:
            known.setdefault(str(getattr(key, "value", "")), (value, key.start_mark))
        node.by_key = known
    return known


def _step(node: Node, step: object) -> tuple[Node, Any] | None:
    if isinstance(node, yaml.MappingNode):
        keys = _keys(node)
        if isinstance(step, str):
            return keys.get(step)
        return next((found for written, found in keys.items() if plain(written) == step), None)
    if not isinstance(node, yaml.SequenceNode):
        return None
    if isinstance(step, int) and not isinstance(step, bool):
        return (node.value[step], node.value[step].start_mark) if 0 <= step < len(node.value) else None
    for item in node.value:
        if isinstance(item, yaml.ScalarNode) and item.value == step:
            return item, item.start_mark
        if isinstance(item, yaml.MappingNode) and (found := _step(item, step)) is not None:
            return found
    return None
