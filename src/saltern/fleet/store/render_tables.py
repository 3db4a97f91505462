"""The tables of rendering on the controller: files that agents do not get, and the blocks of open jobs."""

from __future__ import annotations

from sqlalchemy import Column, Double, LargeBinary, Table, UniqueConstraint

from saltern.fleet.store.columns import DIGEST, ID, JID, METADATA, WORD
from saltern.fleet.store.columns import required_column as _required

HIDDEN_FILES = Table(
    "hidden_files",
    METADATA,
    Column("stub", DIGEST, primary_key=True),
    _required("token", WORD),
    _required("digest", DIGEST),
    _required("words", WORD),
    _required("data", LargeBinary),
    UniqueConstraint("digest", "words"),
    comment="texts of files that are rendered on the controller, by the digest of the stub of each",
)
RENDER_SCOPES = Table(
    "render_scopes",
    METADATA,
    Column("jid", JID, primary_key=True),
    Column("system", ID, primary_key=True),
    Column("name", WORD, primary_key=True),
    _required("data", LargeBinary),
    _required("at", Double),
    comment="delayed blocks of jobs that are open, with what they see; removed when the job ends there",
)
TABLES = (HIDDEN_FILES, RENDER_SCOPES)
