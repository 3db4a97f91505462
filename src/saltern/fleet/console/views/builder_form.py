"""Reads the builder's form into edits of a chain."""

from __future__ import annotations

from typing import Any

from saltern.chains.edit import free_name
from saltern.chains.outline import Listed, outline
from saltern.chains.schema import Field, kind_schemas, policy_fields
from saltern.fleet.console.forms import number_of, yaml_of
from saltern.fleet.console.row import Data, Form

FIRST: dict[str, Data] = {  # the contents of a new action
    "packages": {"packages": {"install": ["name-of-a-package"]}},
    "patch": {"patch": {"refresh": True}},
    "upgrade": {"upgrade": {}},
    "command": {"command": {"run": "true"}},
    "script": {"script": {"source": "salt://script.sh"}},
    "state": {"state": "name-of-a-state-file"},
    "highstate": {"highstate": {}},
    "file": {"file": {"path": "/etc/motd", "contents": "\n"}},
    "wait": {"wait": 30},
    "health": {"health": {"command": "systemctl is-system-running --wait"}},
    "reboot": {"reboot": {"when": "needed"}},
    "agent": {"agent": {"version": "0.0.0"}},
}


def as_text(value: Any) -> str:
    """A value as text for a form."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    if isinstance(value, (dict, list)):
        return _dump(value)
    return str(value)


def _dump(value: Any) -> str:
    from saltern.report.yaml import dump

    return dump(value).rstrip("\n")


def body_of(given: Data, kind: str) -> Data:
    """The contents of an action, with its short form written out."""
    body = given.get(kind)
    if isinstance(body, dict):
        return body
    short = kind_schemas()[kind].short
    return {} if body is None or not short else {short: body}


def place_of(text: str) -> tuple[str, int]:
    key, _, index = text.partition(":")
    number = int(index) if index.isascii() and index.isdigit() and len(index) < 6 else 0
    return ("finally" if key == "finally" else "actions"), number


def draft_body(form: Form) -> Data:
    """The text as it was shown, the changes of the form, and the change of the button."""
    text = form.raw("text")
    place = place_of(form.text("place"))
    edits = [] if text != form.raw("was") else _typed_changes(form, text, place)
    return {"text": text, "edits": [*edits, *_asked_changes(form, text, place)]}


def _typed_changes(form: Form, text: str, place: tuple[str, int]) -> list[Data]:
    """The selected action from the form, if it differs from the text."""
    chosen = next((one for one in outline(text).actions if (one.list, one.index) == place), None)
    if chosen is None or not form.text("kind"):
        return []
    action = _action(form, chosen)
    if action == chosen.given:
        return []
    return [{"verb": "set", "list": place[0], "index": place[1], "action": action}]


def _action(form: Form, chosen: Listed) -> Data:
    """The action that the form describes; keys that the form does not have stay."""
    kind = chosen.kind
    body = dict(body_of(chosen.given, kind))
    for one in kind_schemas()[kind].fields:
        _put(body, one, form, f"f-{one.name}")
    rest = {key: value for key, value in chosen.given.items() if key != kind}
    if "p-id" in form.fields:
        rest = {"id": form.text("p-id"), **rest} | {"id": form.text("p-id")}
        rest = rest if form.text("p-id") else {key: value for key, value in rest.items() if key != "id"}
    for one in policy_fields():
        if one.name != "id":
            _put(rest, one, form, f"p-{one.name}")
    short = kind_schemas()[kind].short
    plain = not isinstance(chosen.given.get(kind), dict) and set(body) == {short}
    first = {"id": rest.pop("id")} if "id" in rest else {}
    return {**first, kind: body[short] if plain else body, **rest}


def _put(into: Data, one: Field, form: Form, name: str) -> None:
    """Set one key from the form; an empty value, or a default that was not there, is left out."""
    if name not in form.fields:
        return
    value = read_value(form.raw(name), one.type)
    if value is None or (one.name not in into and value == one.default):
        into.pop(one.name, None)
    elif as_text(into.get(one.name)) != as_text(value) or one.name not in into:
        into[one.name] = value


def read_value(text: str, type_: str) -> Any:
    """A value from its text; a value of the wrong type stays a text, and is reported with its line."""
    plain = text.strip()
    if not plain:
        return None
    if type_ == "switch":
        return {"true": True, "false": False}.get(plain.lower(), plain)
    if type_ in ("number", "whole"):
        return _number(plain)
    if type_ in ("list", "words"):
        lines = [line.strip() for line in plain.splitlines() if line.strip()]
        return lines[0] if type_ == "words" and len(lines) == 1 else lines
    return yaml_of(plain) if type_ == "mapping" else text.strip("\n") if type_ == "text" else plain


def _number(text: str) -> Any:
    number = number_of(text)
    is_whole = isinstance(number, float) and number.is_integer() and "." not in text and abs(number) < 1e15
    return int(number) if is_whole else number


def _asked_changes(form: Form, text: str, place: tuple[str, int]) -> list[Data]:
    """The change of the button that was pressed: ``add command``, ``up``, ``move actions:4``,
    ``repair …``.
    """
    verb, _, rest = form.text("do").partition(" ")
    at: Data = {"list": place[0], "index": place[1]}
    if verb == "add" and rest in FIRST:
        end = place[1] + 1 if outline(text).actions else 0
        return [{"verb": "add", "list": place[0], "index": end, "action": _new(rest, text)}]
    if verb in ("copy", "remove"):
        return [{"verb": verb, **at}]
    if verb in ("up", "down", "move"):
        to = (
            place_of(rest) if verb == "move" else (place[0], max(0, place[1] + (1 if verb == "down" else -1)))
        )
        return [{"verb": "move", **at, "to_list": to[0], "to": to[1]}]
    if verb == "repair":
        return _repair(text, rest)
    return []


def _new(kind: str, text: str) -> Data:
    """A new action with a unique id."""
    return {"id": free_name(kind, {one.id for one in outline(text).actions}), **FIRST[kind]}


def _repair(text: str, which: str) -> list[Data]:
    """Replace a text such as ``60m`` by its number of seconds."""
    found = outline(text)
    flaw = next((one for n, one in enumerate(found.problems) if str(n) == which), None)
    if flaw is None or flaw.repair is None:
        return []
    action = next(one for one in found.actions if (one.list, one.index) == (flaw.list, flaw.index))
    value = int(flaw.repair) if flaw.repair.is_integer() else flaw.repair
    body = {**body_of(action.given, action.kind), flaw.field: value}
    return [
        {"verb": "set", "list": flaw.list, "index": flaw.index, "action": {**action.given, action.kind: body}}
    ]
