"""The text of a run: that of a stored chain, or a text that is stored with its first run."""

from __future__ import annotations

from hashlib import sha256

from msgspec import Struct

from saltern.chains.document import read_chain
from saltern.fleet.protocol.ids import new_jid
from saltern.fleet.store import chains
from saltern.fleet.store.database import Connection
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean


class Source(Struct, frozen=True, kw_only=True):
    """A text of a chain. ``chain`` and ``number`` are empty for one that is not stored."""

    name: str
    text: str
    file: str
    sha256: str
    chain: str = ""
    number: int = 0

    def store(self, connection: Connection, who: str, now: float) -> tuple[str, int]:
        """The chain and the version with this text, created if there are none."""
        if self.chain:
            return self.chain, self.number
        chains.lock_chain(connection, self.name)
        known = chains.chain_named(connection, self.name)
        if known is None:
            known = chains.StoredChain(id=new_jid(now), name=self.name, created=now, created_by=who)
            chains.add_chain(connection, known)
        last = chains.version_of(connection, known.id)
        if last is not None and last.sha256 == self.sha256:
            return known.id, last.number
        number = last.number + 1 if last is not None else 1
        new = chains.StoredVersion(
            chain=known.id, number=number, text=self.text, sha256=self.sha256, author=who, created=now
        )
        chains.add_version(connection, new)
        return known.id, number


def source_of(connection: Connection, chain: str, version: int | None, text: str) -> Source:
    """The requested text; raises if neither a chain nor a text is given, or both are."""
    if bool(chain) == bool(text):
        what = "a run needs either the name of a chain or a text"
        raise OperationError(Diagnostic(code="chain-request", what=what, fix="give one of them"))
    if text:
        name = read_chain(text, "chain.yaml").name
        return Source(name=name, text=text, file=f"{name}.yaml", sha256=sha256(text.encode()).hexdigest())
    known = chains.chain_named(connection, chain)
    if known is None or known.archived_at is not None:
        names = [one.name for one in chains.list_chains(connection)]
        what = f"no chain is called {chain!r}" if known is None else f"the chain {chain!r} is archived"
        fix = did_you_mean(chain, names) or "`saltern chain list` lists them"
        raise OperationError(Diagnostic(code="chain-unknown", what=what, fix=fix))
    found = chains.version_of(connection, known.id, version)
    if found is None:
        what = f"the chain {chain!r} has no version {version}"
        raise OperationError(Diagnostic(code="chain-unknown", what=what, fix="leave the version out"))
    return Source(
        name=known.name,
        text=found.text,
        file=f"{known.name}.yaml",
        sha256=found.sha256,
        chain=known.id,
        number=found.number,
    )
