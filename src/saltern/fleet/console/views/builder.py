"""The builder: a chain as a list of actions, a form for one of them, and its text, all kept in sync.

Each change is sent with the text of the page. What was typed into the form is written into the text, unless
the text itself was edited meanwhile; then the change of the button follows.
"""

from __future__ import annotations

import json
import re
from typing import Any

from markupsafe import Markup, escape

from saltern.chains.outline import outline
from saltern.chains.schema import Field, kind_schemas, policy_fields
from saltern.fleet.console.ask import Ask
from saltern.fleet.console.row import Act, Data, Form, Page, Visit
from saltern.fleet.console.views.builder_form import FIRST, as_text, body_of, draft_body, place_of
from saltern.language.diagnostics import SalternError
from saltern.report.text import safe

KEY = re.compile(r"^(\s*(?:- )*)([\w-]+:)(.*)$")
START = "chain: {name}\nactions: []\n"


async def gather(visit: Visit) -> Data:
    """A stored chain, or a new one; an action from another page is added at its end."""
    name = visit.path["chain"]
    text, base = await _text(visit, name)
    edits = _from_elsewhere(visit.query.get("add", ""), text)
    draft = await visit.ask.send("POST", "/v1/draft-chain", {"text": text, "edits": edits})
    last = len([one for one in draft["actions"] if one["list"] == "actions"]) - 1 if edits else 0
    place = place_of(f"actions:{last}")
    return await draft_view(visit.ask, draft, place, base=base, saved=text, note="", may=visit.me["may"])


async def _text(visit: Visit, name: str) -> tuple[str, int]:
    """The newest version of a chain and its number; for a new chain, its first lines."""
    try:
        found = await visit.ask.get("/v1/chains/{chain}/text", chain=name)
    except SalternError as problem:
        if problem.diagnostics[0].code != "chain-unknown":
            raise
        return START.format(name=json.dumps(name)), 0
    return found["text"], found["number"]


def _from_elsewhere(given: str, text: str) -> list[Data]:
    """An action from another page: ``{"command": "..."}`` as JSON; anything else is ignored."""
    try:
        action = json.loads(given) if given else None
    except ValueError:
        return []
    if not isinstance(action, dict) or not any(key in FIRST for key in action):
        return []
    at = len([one for one in outline(text).actions if one.list == "actions"])
    return [{"verb": "add", "index": at, "action": action}]


async def draft_view(
    ask: Ask, draft: Data, place: tuple[str, int], *, base: int, saved: str, note: str, may: list[str]
) -> Data:
    """What the page shows of a draft, with one action chosen. ``may``: what its reader is allowed."""
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
        "lines": _lines(draft, chosen),
        "base": base,
        "saved": saved,
        "note": note,
        "changed": draft["text"] != saved,
        "may_save": "chains.write" in may,
        "may_run": "jobs.submit" in may,
        "usual": usual,
    }


async def _usual(ask: Ask, chain: str) -> Data | None:
    try:
        found: Data = await ask.get("/v1/chains/{chain}/usual", chain=chain)
    except SalternError:
        return None  # the draft has been renamed
    return found


def _lines(draft: Data, chosen: Data | None) -> list[Data]:
    """The lines of the text: which belong to the selected action, and which have problems."""
    wrong = {one["line"] for one in draft["problems"]}
    first, last = (chosen["first"], chosen["last"]) if chosen else (0, 0)
    return [
        {"html": colour_line(line), "cls": "bad" if n in wrong else "here" if first <= n <= last else ""}
        for n, line in enumerate(draft["text"].splitlines(), 1)
    ]


def colour_line(line: str) -> Markup:
    """A line of YAML with its key highlighted; everything is escaped."""
    text = safe(line)
    found = KEY.match(text)
    if found is None:
        return escape(text) or Markup("&#8203;")
    return Markup("{}<i>{}</i><em>{}</em>").format(*found.groups())


# -- fields ---------------------------------------------------------------------------------------------


def _row(one: Data, problems: list[Data]) -> Data:
    """An action of the list: its summary, and the first of its lines with a problem."""
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
    """The keys of the action's kind, with their values."""
    schema = kind_schemas().get(chosen["kind"])
    if schema is None:
        return []
    body = body_of(chosen["given"], chosen["kind"])
    flaws = _flaws(chosen, problems)
    return [_field_row(one, body.get(one.name), "f-", flaws) for one in schema.fields]


def _policy(chosen: Data, problems: list[Data]) -> list[Data]:
    flaws, given = _flaws(chosen, problems), chosen["given"]
    return [_field_row(one, given.get(one.name), "p-", flaws) for one in policy_fields() if one.name != "id"]


def _flaws(chosen: Data, problems: list[Data]) -> dict[str, Data]:
    """The problems of the selected action, by key; each with its number among all problems."""
    place = (chosen["list"], chosen["index"])
    own = [(n, one) for n, one in enumerate(problems) if (one["list"], one["index"]) == place]
    return {one["field"]: {**one, "number": n} for n, one in own if one["field"]}


def _field_row(one: Field, value: Any, prefix: str, flaws: dict[str, Data]) -> Data:
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


async def draft_shown(ask: Ask, form: Form, draft: Data) -> Data:
    """The page after a change."""
    base = form.text("base")
    number = int(base) if base.isascii() and base.isdigit() and len(base) < 9 else 0
    place = _chosen_after(form, draft)
    may = (await ask.get("/v1/me"))["may"]
    return await draft_view(
        ask,
        draft,
        place,
        base=number,
        saved=form.raw("saved"),
        note=form.text("note"),
        may=may,
    )


def _chosen_after(form: Form, draft: Data) -> tuple[str, int]:
    """The action to select after a change: the one that was added or moved, else the same."""
    verb, _, rest = form.text("do").partition(" ")
    key, index = place_of(form.text("place"))
    if verb == "choose" or verb == "move":
        key, index = place_of(rest)
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
        did="The version is saved",
    ),
)
