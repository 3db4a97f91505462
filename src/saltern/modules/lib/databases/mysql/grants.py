"""Grants: the privileges of an account on a level, the missing and surplus ones, and the statements for
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.databases.mysql import accounts, client
from saltern.modules.lib.databases.mysql.accounts import Account
from saltern.modules.lib.databases.mysql.connection import Connection
from saltern.modules.lib.databases.mysql.literals import account, text
from saltern.modules.lib.databases.mysql.privileges import (
    ALL,
    GRANT_OPTION,
    SPECIAL,
    USAGE,
    Grant,
    Level,
    Privileges,
    level,
    parse_grant_line,
    privileges,
    server_names,
    sql,
)

NO_SUCH_GRANT = 1141  # also for a user that does not exist
SSL_WORDS = {"SSL": "ANY", "X509": "X509"}
SSL_FIELDS = {"CIPHER": "ssl_cipher", "ISSUER": "x509_issuer", "SUBJECT": "x509_subject"}


class DesiredGrant(Struct, frozen=True, kw_only=True):
    """The wanted privileges of an account on a level. ``plain`` is its database with unescaped wildcards:
    people write that by hand, and mean the same."""

    user: str
    host: str
    level: Level
    plain: str
    privileges: Privileges
    option: bool = False


class Held(Struct, frozen=True):
    """The privileges of an account on the level of a wanted grant, and the names of that level."""

    needed: Privileges  # by their names on the server
    account: Account | None = None
    grants: tuple[Grant, ...] = ()
    every: frozenset[str] = frozenset()  # all privileges that the server knows

    @property
    def privileges(self) -> Privileges:
        return frozenset(one for grant in self.grants for one in grant.privileges)

    @property
    def option(self) -> bool:
        return any(grant.option for grant in self.grants)


def desired_grant(
    words: str | Sequence[str],
    database: str,
    user: str,
    host: str,
    *,
    option: bool = False,
    escape: bool = True,
) -> DesiredGrant:
    given = privileges(words if isinstance(words, str) else ", ".join(words))
    return DesiredGrant(
        user=user,
        host=host.lower(),
        level=level(database, escape=escape),
        plain=level(database, escape=False).schema,
        privileges=given - {GRANT_OPTION},
        option=option or GRANT_OPTION in given,
    )


# -- looking -----------------------------------------------------------------------------------------


def lines(ctx: Context, server: Connection, user: str, host: str) -> list[str] | None:
    """``SHOW GRANTS``; None if there is no such account."""
    try:
        found = client.ask(ctx, server, f"SHOW GRANTS FOR {account(user, host)}")
    except client.ServerRefused as refused:
        if refused.code == NO_SUCH_GRANT:
            return None
        raise
    return [str(row[0]) for table in found for row in table.rows]


def held_privileges(ctx: Context, server: Connection, wanted: DesiredGrant) -> Held:
    """The privileges that the account has. Raises ``Refused`` for privileges that the server does not
    know.
    """
    listed, found = client.ask(ctx, server, "SHOW PRIVILEGES", accounts.question(wanted.user, wanted.host))
    every = frozenset(str(row["Privilege"]).upper() for row in listed.mappings())
    needed = server_names(wanted.privileges, every)
    have = accounts.answer(found, wanted.user)
    reported = lines(ctx, server, wanted.user, wanted.host) if have else None
    grants = (grant for grant in map(parse_grant_line, reported or ()) if grant is not None)
    here = tuple(grant for grant in grants if _is_here(grant.level, wanted))
    return Held(needed, have, here, every)


def _is_here(one: Level, wanted: DesiredGrant) -> bool:
    there = wanted.level
    return (one.object, one.kind) == (there.object, there.kind) and one.schema in (there.schema, wanted.plain)


# -- comparing ---------------------------------------------------------------------------------------


def missing_privileges(wanted: DesiredGrant, have: Held) -> Privileges:
    if have.account is None:
        return have.needed
    return frozenset(one for one in have.needed - {USAGE} if not _covered(one, wanted, have))


def _covered(one: tuple[str, str], wanted: DesiredGrant, have: Held) -> bool:
    owned = have.privileges
    if one in owned or (one[0], "") in owned or ALL in owned:
        return True
    # MySQL 8 shows ALL on everything as a list of every single privilege.
    single = {(name, "") for name in have.every - SPECIAL}
    return one == ALL and wanted.level.schema == "*" and single <= owned


def surplus(have: Held) -> Privileges:
    """Privileges on the level that are not wanted."""
    return frozenset() if ALL in have.needed else have.privileges - have.needed


def shared_privileges(wanted: DesiredGrant, have: Held) -> Privileges:
    """The listed privileges that the account has, to revoke them."""
    if ALL in have.needed:
        return have.privileges
    return frozenset(one for one in have.needed - {USAGE} if _covered(one, wanted, have))


# -- doing -------------------------------------------------------------------------------------------


def grant_statements(wanted: DesiredGrant, some: Privileges, *, option: bool) -> list[str]:
    ending = " WITH GRANT OPTION" if option else ""
    if not some and not option:
        return []
    return [f"GRANT {sql(some or {USAGE})} ON {wanted.level} TO {account(wanted.user, wanted.host)}{ending}"]


def revoke_statements(wanted: DesiredGrant, have: Held, some: Privileges, *, option: bool) -> list[str]:
    """The statements for each name of the level. Revoking a missing privilege would be an error."""
    who = account(wanted.user, wanted.host)
    made: list[str] = []
    for grant in have.grants:
        taken = {ALL} if ALL in some else some if ALL in grant.privileges else some & grant.privileges
        if taken:
            made.append(f"REVOKE {sql(taken)} ON {grant.level} FROM {who}")
        if option and grant.option:
            made.append(f"REVOKE GRANT OPTION ON {grant.level} FROM {who}")
    return made


# -- TLS ---------------------------------------------------------------------------------------------


def ssl_columns(given: object) -> dict[str, str]:
    """``[{SUBJECT: text}, {SSL: true}]`` as the columns of ``mysql.user``; empty if nothing is given."""
    if not given or not isinstance(given, list):
        return {}
    pairs = {str(key).strip().upper(): value for one in given for key, value in _pairs(one)}
    for key in pairs:
        if key not in SSL_WORDS and key not in SSL_FIELDS:
            words = ", ".join((*SSL_WORDS, *SSL_FIELDS))
            raise Refused(f"ssl_option cannot have {key!r}; it must be one of {words}")
    fields = {SSL_FIELDS[key]: str(value) for key, value in pairs.items() if key in SSL_FIELDS}
    if fields:
        return {"ssl_type": "SPECIFIED", **dict.fromkeys(SSL_FIELDS.values(), ""), **fields}
    asked = [kind for word, kind in SSL_WORDS.items() if pairs.get(word)]
    return {"ssl_type": asked[-1]} if asked else {}


def _pairs(one: object) -> list[tuple[object, object]]:
    if isinstance(one, Mapping):
        return list(one.items())
    if isinstance(one, str):
        return [(one, True)]
    raise Refused(f"ssl_option needs a list of mappings such as {{SSL: true}}, got {one!r}")


def ssl_holds(have: Account | None, wanted: Mapping[str, str]) -> bool:
    return all(have is not None and getattr(have, field) == value for field, value in wanted.items())


def ssl_statements(wanted: DesiredGrant, ssl: Mapping[str, str]) -> list[str]:
    if not ssl:
        return []
    words = {kind: word for word, kind in SSL_WORDS.items()}
    fields = [f"{word} {text(ssl[field])}" for word, field in SSL_FIELDS.items() if ssl.get(field)]
    needed = words.get(ssl["ssl_type"]) or " AND ".join(fields)
    return [f"ALTER USER {account(wanted.user, wanted.host)} REQUIRE {needed}"]
