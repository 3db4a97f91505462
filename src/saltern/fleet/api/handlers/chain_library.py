"""Chains as objects: texts in versions that are never changed."""

from __future__ import annotations

from saltern.fleet.api.call import Call
from saltern.fleet.api.library_shapes import (
    ArchiveBody,
    ChainAnswer,
    ChainBody,
    ChainDiff,
    ChainDiffQuery,
    ChainsQuery,
    FindingAnswer,
    ValidateBody,
    Validated,
    VersionAnswer,
    VersionQuery,
)
from saltern.fleet.api.pages import Page, PageQuery, cut_page, decode_cursor, make_page
from saltern.fleet.api.route import NoQuery
from saltern.fleet.controller import chain_library as library
from saltern.fleet.store import chains as store
from saltern.fleet.store.chains import StoredChain, StoredVersion
from saltern.fleet.store.database import Connection


async def list_chains(call: Call[ChainsQuery, None]) -> Page[ChainAnswer]:
    """Chains by name."""
    query = call.query
    after = decode_cursor(query.cursor, tuple[str])[0] if query.cursor else ""
    found = await call.read(_list_chains, query.archived, after, query.limit + 1)
    return make_page(found, query.limit, lambda one: (one.name,))


def _list_chains(connection: Connection, archived: bool, after: str, limit: int) -> list[ChainAnswer]:
    rows = store.list_chains(connection, archived=archived, after=after, limit=limit)
    return [_answer(row, version) for row in rows if (version := store.version_of(connection, row.id))]


async def get_chain(call: Call[NoQuery, None]) -> ChainAnswer:
    """One chain."""
    return _answer(*await call.read(library.find, call.path["chain"]))


async def save_chain(call: Call[NoQuery, ChainBody]) -> VersionAnswer:
    """Keep a text as the newest version of the chain that it names; a new chain is created."""
    ask = call.body
    made = await call.ask(
        library.save,
        call.desk.fleet.database,
        call.who.name,
        ask.text,
        call.desk.now(),
        note=ask.note,
        base=ask.base,
    )
    stored, version = await call.read(library.find, made.chain, made.number)
    return _version(stored, version)


async def list_versions(call: Call[PageQuery, None]) -> Page[VersionAnswer]:
    """Versions of a chain, the oldest first."""
    stored, _ = await call.read(library.find, call.path["chain"])
    rows = [_version(stored, one) for one in await call.read(store.versions_of, stored.id)]
    return cut_page(rows, call.query, lambda one: f"{one.number:09}")


async def get_version(call: Call[VersionQuery, None]) -> VersionAnswer:
    """The text of a chain."""
    return _version(*await call.read(library.find, call.path["chain"], call.query.version))


async def diff_chain(call: Call[ChainDiffQuery, None]) -> ChainDiff:
    """What differs between two versions of a chain."""
    name, query = call.path["chain"], call.query
    stored, new = await call.read(library.find, name, query.new)
    _, old = await call.read(library.find, name, query.old or max(1, new.number - 1))
    lines = library.difference(old, new, stored.name)
    return ChainDiff(old=old.number, new=new.number, lines=lines)


async def validate_chain(call: Call[NoQuery, ValidateBody]) -> Validated:
    """Compare a chain with real systems: which it targets, and which cannot do what it requires."""
    systems = await call.desk.fleet.resolve(call.body.target)
    inventory = call.desk.fleet.inventory
    groups = await call.ask(inventory.fact_groups, systems, library.ASKED)
    found = await call.ask(library.validate, call.body.text, call.body.target, systems, groups)
    return Validated(findings=[_finding_answer(one) for one in found])


async def archive_chain(call: Call[NoQuery, ArchiveBody]) -> ChainAnswer:
    """Archive a chain, or restore it. Its versions and runs stay."""
    name, who = call.path["chain"], call.who.name
    await call.ask(library.archive, call.desk.fleet.database, who, name, call.desk.now(), undo=call.body.undo)
    return _answer(*await call.read(library.find, name))


def _finding_answer(one: library.Finding) -> FindingAnswer:
    return FindingAnswer(level=one.level, what=one.what, action=one.action, systems=list(one.systems))


def _answer(stored: StoredChain, version: StoredVersion) -> ChainAnswer:
    return ChainAnswer(
        name=stored.name,
        owner=stored.owner,
        description=stored.description,
        created=stored.created,
        created_by=stored.created_by,
        archived_at=stored.archived_at,
        version=version.number,
        sha256=version.sha256,
        changed=version.created,
        changed_by=version.author,
    )


def _version(stored: StoredChain, version: StoredVersion) -> VersionAnswer:
    return VersionAnswer(
        chain=stored.name,
        number=version.number,
        text=version.text,
        sha256=version.sha256,
        author=version.author,
        created=version.created,
        note=version.note,
    )
