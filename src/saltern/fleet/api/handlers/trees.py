"""Trees: versions of the files that jobs see."""

from __future__ import annotations

from typing import Any

from msgspec import convert

from saltern.fleet.api.call import Call
from saltern.fleet.api.pages import Page, PageQuery, cut_page, decode_cursor, make_page
from saltern.fleet.api.problems import ApiError
from saltern.fleet.api.route import NoQuery
from saltern.fleet.api.shapes import DiffAnswer, DiffQuery, NoBody, RollbackBody, TreeAnswer, TreeNow
from saltern.fleet.files.changes import Difference
from saltern.fleet.files.keeper import TreeKeeper
from saltern.fleet.store import trees as store
from saltern.language.diagnostics import Diagnostic


def keeper(call: Call[Any, Any]) -> TreeKeeper:
    trees = call.desk.fleet.trees
    if not isinstance(trees, TreeKeeper):
        what = "this controller serves no files"
        fix = "name directories in `file_roots` of its configuration"
        raise ApiError(404, Diagnostic(code="api-no-trees", what=what, fix=fix))
    return trees


async def list_trees(call: Call[PageQuery, None]) -> Page[TreeAnswer]:
    """The current version of each environment."""
    rows = await call.read(store.current)
    found = [convert(row, TreeAnswer, from_attributes=True) for row in rows]
    return cut_page(found, call.query, lambda one: one.environment)


async def tree_log(call: Call[PageQuery, None]) -> Page[TreeAnswer]:
    """Versions of an environment, the newest first."""
    query = call.query
    before = decode_cursor(query.cursor, tuple[int])[0] if query.cursor else None
    rows = await call.read(store.log, call.path["environment"], before=before, limit=query.limit + 1)
    found = [convert(row, TreeAnswer, from_attributes=True) for row in rows]
    return make_page(found, query.limit, lambda one: (one.number,))


async def tree_diff(call: Call[DiffQuery, None]) -> Page[DiffAnswer]:
    """What differs between two versions."""
    query = call.query
    found = await keeper(call).versions.diff(call.path["environment"], query.old, query.new)
    return cut_page([_answer(one) for one in found], query, lambda one: one.path)


async def publish_tree(call: Call[NoQuery, NoBody]) -> TreeNow:
    """Publish the current state of the roots and the git remotes."""
    return TreeNow(digest=await keeper(call).publish(call.who.name))


async def rollback_tree(call: Call[NoQuery, RollbackBody]) -> TreeNow:
    """Return to an earlier version, and stay there."""
    environment, version = call.path["environment"], call.body.version
    return TreeNow(digest=await keeper(call).versions.rollback(environment, version, call.who.name))


async def follow_tree(call: Call[NoQuery, NoBody]) -> TreeNow:
    """Follow the roots again after a rollback."""
    return TreeNow(digest=await keeper(call).follow(call.path["environment"], call.who.name))


def _answer(one: Difference) -> DiffAnswer:
    before = one.before.digest if one.before is not None else ""
    after = one.after.digest if one.after is not None else ""
    return DiffAnswer(path=one.path, change=one.word, before=before, after=after)
