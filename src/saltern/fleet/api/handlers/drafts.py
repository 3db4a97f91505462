"""Drafts of chains: a text that is changed one action at a time, and its problems. Nothing is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import convert, to_builtins

from saltern.chains import edit
from saltern.chains.edit import Place
from saltern.chains.outline import outline
from saltern.chains.schema import kind_schemas, policy_fields
from saltern.fleet.api.call import Call
from saltern.fleet.api.console_shapes import DraftAnswer, DraftBody, EditBody, KindsAnswer, UsualAnswer
from saltern.fleet.api.route import NoQuery
from saltern.fleet.controller import chain_library
from saltern.fleet.store import inbox

VERBS: dict[str, Callable[[str, EditBody], str]] = {
    "add": lambda text, ask: edit.add_action(text, _at(ask), ask.action),
    "set": lambda text, ask: edit.set_action(text, _at(ask), ask.action),
    "move": lambda text, ask: edit.move_action(text, _at(ask), Place(list=ask.to_list, index=ask.to)),
    "copy": lambda text, ask: edit.copy_action(text, _at(ask)),
    "remove": lambda text, ask: edit.remove_action(text, _at(ask)),
    "head": lambda text, ask: edit.set_head(text, ask.head),
}


def _at(ask: EditBody) -> Place:
    return Place(list=ask.list, index=ask.index)


async def draft_chain(call: Call[NoQuery, DraftBody]) -> DraftAnswer:
    """Change the text of a chain, and get its actions and its problems. Nothing is stored."""
    return await call.ask(_draft, call.body)


def _draft(ask: DraftBody) -> DraftAnswer:
    text = ask.text
    for one in ask.edits:
        text = VERBS[one.verb](text, one)
    found: dict[str, Any] = to_builtins(outline(text))
    return convert({"text": text, **found}, DraftAnswer)


async def usual_time(call: Call[NoQuery, None]) -> UsualAnswer:
    """How long runs of a chain usually take."""
    stored, _ = await call.read(chain_library.find, call.path["chain"])
    p50, p95 = await call.read(inbox.usual_times, stored.id) or (None, None)
    actions = await call.read(inbox.usual_steps, stored.id)
    return UsualAnswer(p50=p50, p95=p95, actions=actions)


async def list_kinds(call: Call[NoQuery, None]) -> KindsAnswer:  # noqa: ARG001
    """The kinds of actions, and the keys of each."""
    kinds = [to_builtins(one) for one in kind_schemas().values()]
    return convert({"kinds": kinds, "policy": to_builtins(policy_fields())}, KindsAnswer)
