"""The builder: a chain as a list of actions, a form for one of them, and its text: all three are one.

Each change is sent with the text as the page has it. What was typed into the form is written into the text,
unless the text itself was edited meanwhile; then the button's own change follows.
"""

from __future__ import annotations

import json
import re
from typing import Any

from markupsafe import Markup, escape

from saltern.chains.outline import Listed, outline
from saltern.chains.schema import Field, kind_schemas, policy_fields
from saltern.fleet.console.ask import Ask
from saltern.fleet.console.row import Act, Data, Form, Page, Visit
from saltern.report.text import safe

KEY = re.compile(r"^(\s*(?:- )*)([\w-]+:)(.*)$")
START = "chain: {name}\nactions: []\n"
KIND_ICONS = {"packages": "patch", "upgrade": "patch", "script": "command", "highstate": "state"}
FIRST: dict[str, Data] = {  # what a new action says until it is edited
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


# -- the page -------------------------------------------------------------------------------------------


async def gather(visit: Visit) -> Data:
    """A chain that is kept, or one that is begun; an action of another page is added at its end."""
    name = visit.path["chain"]
    text, base = await _text(visit, name)
    edits = _from_elsewhere(visit.query.get("add", ""), text)
    draft = await visit.ask.send("POST", "/v1/draft-chain", {"text": text, "edits": edits})
    last = len([one for one in draft["actions"] if one["list"] == "actions"]) - 1 if edits else 0
    place = _place(f"actions:{last}")
    return await shown(visit.ask, draft, place, base=base, saved=text, note="", may=visit.may("chains.write"))


async def _text(visit: Visit, name: str) -> tuple[str, int]:
    """The newest version of a chain and its number; the beginning of one that is not there yet."""
    from saltern.language.diagnostics import SalternError

    try:
        found = await visit.ask.get("/v1/chains/{chain}/text", chain=name)
    except SalternError as problem:
        if problem.diagnostics[0].code != "chain-unknown":
            raise
        return START.format(name=json.dumps(name)), 0
    return found["text"], found["number"]


def _from_elsewhere(given: str, text: str) -> list[Data]:
    """An action that another page offers: ``{"command": "..."}`` as JSON; what is none is left out."""
    try:
        action = json.loads(given) if given else None
    except ValueError:
        return []
    if not isinstance(action, dict) or not any(key in FIRST for key in action):
        return []
    at = len([one for one in outline(text).actions if one.list == "actions"])
    return [{"verb": "add", "index": at, "action": action}]


async def shown(
    ask: Ask, draft: Data, place: tuple[str, int], *, base: int, saved: str, note: str, may: bool
) -> Data:
    """What the page shows of a draft, with one action chosen."""
    actions = draft["actions"]
    usual = await _usual(ask, draft["chain"]) if base else None
    times = usual["actions"] if usual else {}
    chosen = next((one for one in actions if (one["list"], one["index"]) == place), None)
    chosen = chosen or (actions[0] if actions else None)
    return {
        "draft": draft,
        "chosen": chosen,
        "fields": _fields(chosen, draft["problems"]) if chosen else [],
        "policy": _policy(chosen, draft["problems"]) if chosen else [],
        "rows": [{**_row(one, draft["problems"]), "usual": times.get(one["id"])} for one in actions],
        "kinds": [(one.kind, one.about) for one in kind_schemas().values()],
        "icons": KIND_ICONS,
        "lines": _lines(draft, chosen),
        "base": base,
        "saved": saved,
        "note": note,
        "changed": draft["text"] != saved,
        "may_save": may,
        "usual": usual,
    }


async def _usual(ask: Ask, chain: str) -> Data | None:
    from saltern.language.diagnostics import SalternError

    try:
        found: Data = await ask.get("/v1/chains/{chain}/usual", chain=chain)
    except SalternError:
        return None  # the draft has another name by now
    return found


def _lines(draft: Data, chosen: Data | None) -> list[Data]:
    """The text line by line: which belong to the chosen action, and which are wrong."""
    wrong = {one["line"] for one in draft["problems"]}
    first, last = (chosen["first"], chosen["last"]) if chosen else (0, 0)
    return [
        {"html": coloured(line), "cls": "bad" if n in wrong else "here" if first <= n <= last else ""}
        for n, line in enumerate(draft["text"].splitlines(), 1)
    ]


def coloured(line: str) -> Markup:
    """A line of YAML with its key marked; everything in it is text."""
    text = safe(line)
    found = KEY.match(text)
    if found is None:
        return escape(text) or Markup("&#8203;")
    return Markup("{}<i>{}</i><em>{}</em>").format(*found.groups())


# -- fields ---------------------------------------------------------------------------------------------


def _row(one: Data, problems: list[Data]) -> Data:
    """An action of the list: what is said beside it, and the first line that is wrong in it."""
    wrong = [
        flaw["line"] for flaw in problems if (flaw["list"], flaw["index"]) == (one["list"], one["index"])
    ]
    return {**one, "aside": _aside(one), "wrong": wrong[0] if wrong else 0}


def _aside(one: Data) -> str:
    body, retry = one["given"].get(one["kind"]), one["given"].get("retry")
    if isinstance(retry, dict):
        return f"{retry.get('attempts', '?')} attempts"
    guards = [key for key in ("unless", "onlyif", "creates") if isinstance(body, dict) and body.get(key)]
    return f"{guards[0]} …" if guards else "proven" if one["barrier"] else ""


def _fields(chosen: Data, problems: list[Data]) -> list[Data]:
    """The keys of the action's kind, with what it says."""
    schema = kind_schemas().get(chosen["kind"])
    if schema is None:
        return []
    body = _body(chosen["given"], chosen["kind"])
    flaws = _flaws(chosen, problems)
    return [_shown(one, body.get(one.name), "f-", flaws) for one in schema.fields]


def _policy(chosen: Data, problems: list[Data]) -> list[Data]:
    flaws, given = _flaws(chosen, problems), chosen["given"]
    return [_shown(one, given.get(one.name), "p-", flaws) for one in policy_fields() if one.name != "id"]


def _flaws(chosen: Data, problems: list[Data]) -> dict[str, Data]:
    """What is wrong with the chosen action, by key; each with its number among all problems."""
    place = (chosen["list"], chosen["index"])
    own = [(n, one) for n, one in enumerate(problems) if (one["list"], one["index"]) == place]
    return {one["field"]: {**one, "number": n} for n, one in own if one["field"]}


def _shown(one: Field, value: Any, prefix: str, flaws: dict[str, Data]) -> Data:
    return {
        "name": one.name,
        "input": f"{prefix}{one.name}",
        "type": one.type,
        "required": one.required,
        "choices": one.choices,
        "default": "" if one.default in (None, [], {}) else as_text(one.default),
        "value": "" if value is None else as_text(value),
        "flaw": flaws.get(one.name),
    }


def as_text(value: Any) -> str:
    """A value as a form has it."""
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


def _body(given: Data, kind: str) -> Data:
    """What an action says, with the key that its short form stands for."""
    body = given.get(kind)
    if isinstance(body, dict):
        return body
    short = kind_schemas()[kind].short
    return {} if body is None or not short else {short: body}


# -- what was sent --------------------------------------------------------------------------------------


def _place(text: str) -> tuple[str, int]:
    key, _, index = text.partition(":")
    number = int(index) if index.isascii() and index.isdigit() and len(index) < 6 else 0
    return ("finally" if key == "finally" else "actions"), number


def draft_body(form: Form) -> Data:
    """The text as it was shown, what the form changes in it, and what the button asks for."""
    text = form.raw("text")
    place = _place(form.text("place"))
    edits = [] if text != form.raw("was") else _typed(form, text, place)
    return {"text": text, "edits": [*edits, *_asked(form, text, place)]}


def _typed(form: Form, text: str, place: tuple[str, int]) -> list[Data]:
    """The chosen action as the form says it now, if that is another than in the text."""
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
    body = dict(_body(chosen.given, kind))
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
    """Set one key as the form has it; what is empty, or as usual and was not there, is left out."""
    if name not in form.fields:
        return
    value = read_value(form.raw(name), one.type)
    if value is None or (one.name not in into and value == one.default):
        into.pop(one.name, None)
    elif as_text(into.get(one.name)) != as_text(value) or one.name not in into:
        into[one.name] = value


def read_value(text: str, type_: str) -> Any:
    """A value from its text; one that is not of its type stays a text, and is reported with its line."""
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
    return _yaml(plain) if type_ == "mapping" else text.strip("\n") if type_ == "text" else plain


def _number(text: str) -> Any:
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() and "." not in text and abs(number) < 1e15 else number


def _yaml(text: str) -> Any:
    from saltern.render.yaml import read
    from saltern.render.yaml_limits import YamlProblem

    try:
        return read(text)
    except YamlProblem:
        return text


def _asked(form: Form, text: str, place: tuple[str, int]) -> list[Data]:
    """What the button that was pressed changes: ``add command``, ``up``, ``move actions:4``, ``repair …``."""
    verb, _, rest = form.text("do").partition(" ")
    at: Data = {"list": place[0], "index": place[1]}
    if verb == "add" and rest in FIRST:
        end = place[1] + 1 if outline(text).actions else 0
        return [{"verb": "add", "list": place[0], "index": end, "action": _new(rest, text)}]
    if verb in ("copy", "remove"):
        return [{"verb": verb, **at}]
    if verb in ("up", "down", "move"):
        to = _place(rest) if verb == "move" else (place[0], max(0, place[1] + (1 if verb == "down" else -1)))
        return [{"verb": "move", **at, "to_list": to[0], "to": to[1]}]
    if verb == "repair":
        return _repair(text, rest)
    return []


def _new(kind: str, text: str) -> Data:
    """A new action with an id of its own."""
    from saltern.chains.edit import free_name

    return {"id": free_name(kind, {one.id for one in outline(text).actions}), **FIRST[kind]}


def _repair(text: str, which: str) -> list[Data]:
    """Write the number that a text such as ``60m`` means in its place."""
    found = outline(text)
    flaw = next((one for n, one in enumerate(found.problems) if str(n) == which), None)
    if flaw is None or flaw.repair is None:
        return []
    action = next(one for one in found.actions if (one.list, one.index) == (flaw.list, flaw.index))
    value = int(flaw.repair) if flaw.repair.is_integer() else flaw.repair
    body = {**_body(action.given, action.kind), flaw.field: value}
    return [
        {"verb": "set", "list": flaw.list, "index": flaw.index, "action": {**action.given, action.kind: body}}
    ]


async def draft_shown(ask: Ask, form: Form, draft: Data) -> Data:
    """The page after a change."""
    base = form.text("base")
    number = int(base) if base.isascii() and base.isdigit() and len(base) < 9 else 0
    place = _chosen_after(form, draft)
    roles = (await ask.get("/v1/me"))["may"]
    return await shown(
        ask,
        draft,
        place,
        base=number,
        saved=form.raw("saved"),
        note=form.text("note"),
        may="chains.write" in roles,
    )


def _chosen_after(form: Form, draft: Data) -> tuple[str, int]:
    """Which action is chosen after a change: the one that was added or moved, else the same."""
    verb, _, rest = form.text("do").partition(" ")
    key, index = _place(form.text("place"))
    if verb == "choose" or verb == "move":
        key, index = _place(rest)
    steps = {"add": 1, "copy": 1, "down": 1, "up": -1}
    number = len([one for one in draft["actions"] if one["list"] == key])
    return key, max(0, min(number - 1, index + steps.get(verb, 0)))


def _save(form: Form) -> Data:
    base = form.text("base")
    number = int(base) if base.isascii() and base.isdigit() and len(base) < 9 else 0
    given: Data = {"text": form.raw("text"), "note": form.text("note")}
    return {**given, "base": number} if number else given


BUILDER_PAGES = (
    Page(
        path="/chains/{chain}/edit",
        name="Builder",
        here="Chains",
        action="chains.read",
        gather=gather,
        template="builder.html",
    ),
)
BUILDER_ACTS = (
    Act(
        path="/chains/{chain}/draft",
        method="POST",
        route="/v1/draft-chain",
        body=draft_body,
        shows="builder.html",
        more=draft_shown,
        here="Builder",
    ),
    Act(
        path="/chains/{chain}/save",
        method="POST",
        route="/v1/chains",
        body=_save,
        then="/chains/{chain}",
        did="The version is kept",
    ),
)
