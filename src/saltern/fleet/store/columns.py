"""What all tables have in common: the metadata, and the kinds of columns."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Integer, MetaData, String

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    }
)
ID = String(255)
LEG = String(512)  # of a run, a dot and a system
JID = String(64)
WORD = String(255)
DIGEST = String(64)
# SQLite numbers rows by itself only if the key is called INTEGER.
NUMBER = BigInteger().with_variant(Integer, "sqlite")


def required_column(name: str, kind: object, **options: object) -> Column[object]:
    return Column(name, kind, nullable=False, **options)  # type: ignore[arg-type]
