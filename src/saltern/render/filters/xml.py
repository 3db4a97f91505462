"""The filter ``xml``: a mapping as an XML document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.dom.minidom import Document, Element

_NAME = re.compile(r"[^\W\d][\w.\-]*(:[^\W\d][\w.\-]*)?")


def xml(value: object) -> object:
    """``{'a': {'b': 'c', 'd': {…}}}`` → ``<a b="c"><d …/></a>``

    Single values become attributes, mappings become elements, a list becomes several elements
    of the same name.
    """
    from xml.dom.minidom import Document

    from jinja2 import Undefined

    if isinstance(value, Undefined):
        return value
    if not isinstance(value, Mapping) or len(value) != 1:
        raise TypeError("needs a mapping with one key, the root element")
    document = Document()
    ((name, content),) = value.items()
    document.appendChild(_element(document, name, content))
    return document.toprettyxml(indent=" ")


def _element(document: Document, name: object, content: object) -> Element:
    if isinstance(content, list | tuple):
        raise TypeError(f"a list at {name!r} would make several elements, but only one is allowed here")
    element = document.createElement(_check_name(name))
    if not isinstance(content, Mapping):
        element.appendChild(document.createTextNode(str(content)))
        return element
    for key, item in content.items():
        _put(document, element, key, item)
    return element


def _put(document: Document, parent: Element, key: object, item: object) -> None:
    if isinstance(item, Mapping):
        parent.appendChild(_element(document, key, item))
    elif isinstance(item, list | tuple):
        for one in item:
            parent.appendChild(_element(document, key, one))
    else:
        parent.setAttribute(_check_name(key), str(item))


def _check_name(name: object) -> str:
    if not _NAME.fullmatch(str(name)):
        raise ValueError(f"{name!r} cannot be the name of an XML element or attribute")
    return str(name)
