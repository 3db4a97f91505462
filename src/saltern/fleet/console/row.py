"""The types of the console's tables: pages, topics, actions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

from saltern.fleet.console.ask import Ask

Data = dict[str, Any]


class Visit(Struct, kw_only=True):
    """One request for a page: the visitor, the names in its path, its query."""

    ask: Ask
    me: Data
    path: dict[str, str]
    query: Mapping[str, str]
    now: float
    root: str

    def may(self, action: str) -> bool:
        """True if the visitor's roles allow it; rules for functions and systems may still refuse."""
        return action in self.me["may"]


Gather = Callable[[Visit], Awaitable[Data]]


class Page(Struct, frozen=True, kw_only=True):
    """A row of ``PAGES``. ``here``: the entry of the menu that it belongs to, if not its own name.

    ``topic``: what it follows, such as ``run/{run}``, with the names of the path.
    """

    path: str
    name: str
    action: str
    gather: Gather
    template: str
    here: str = ""
    topic: str = ""
    media: str = "text/html"


class Topic(Struct, frozen=True, kw_only=True):
    """A row of ``TOPICS``: data that many pages share. ``gather`` gets the data for its parts, which are
    templates below ``parts/``; each is rendered once for all readers, so none may depend on the reader.

    ``tags``: prefixes of tags of events that trigger an update, with the names of the topic.
    """

    name: str
    action: str
    gather: Callable[[Ask, Mapping[str, str], float], Awaitable[Data]]
    parts: tuple[str, ...]
    tags: tuple[str, ...] = ("",)
    progress: bool = False


class Form(Struct, frozen=True, kw_only=True):
    """The fields of a form that was sent, and the names in its path."""

    fields: Mapping[str, str]
    lists: Mapping[str, list[str]]
    path: Mapping[str, str]
    systems: tuple[str, ...] = ()  # the systems that the action is about, as they were counted

    def text(self, name: str) -> str:
        return self.fields.get(name, "").strip()

    def raw(self, name: str) -> str:
        """A text whose spaces and lines stay as they are."""
        return self.fields.get(name, "").replace("\r\n", "\n")

    def many(self, name: str) -> list[str]:
        return [one for one in self.lists.get(name, []) if one]

    def is_on(self, name: str) -> bool:
        return self.fields.get(name, "") in ("on", "true", "1", "yes")


# How many systems an action is about, or which; None: it can be undone, and needs no number.
Count = Callable[[Ask, Form], Awaitable[int | list[str] | None]]
More = Callable[[Ask, Form, Any], Awaitable[Data]]


class Act(Struct, frozen=True, kw_only=True):
    """A row of ``ACTS``: a form, and the route of the API that it calls.

    ``body`` makes the body of the request from the form. ``count``: how many systems it acts on, counted
    again when it is sent; the form then contains the number that was shown (``count``). ``danger``: the
    number must always be typed, with a reason. ``then``: where the browser goes; names in braces come from
    the path or the answer. ``check`` raises if the answer says that nothing was done.
    ``shows``: a template for the answer instead, if it is shown only once; ``more`` gathers its data, and
    ``here`` is its entry in the menu.
    """

    path: str
    method: str
    route: str
    body: Callable[[Form], Data | None] = lambda _form: None
    count: Count | None = None
    danger: Callable[[Form], bool] = lambda _form: False
    then: str = "/"
    did: str = "done"
    check: Callable[[Any], None] = lambda _answer: None
    shows: str = ""
    more: More | None = None
    here: str = ""
