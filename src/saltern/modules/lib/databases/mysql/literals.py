"""Values and names as SQL, for a session without ANSI_QUOTES and NO_BACKSLASH_ESCAPES."""

from __future__ import annotations

from saltern.modules.api.refused import Refused

LONGEST_NAME = 64  # characters, for databases, tables and columns


def text(value: str) -> str:
    """A value in quotes."""
    return "'" + value.replace("\\", "\\\\").replace("'", "''").replace("\0", "\\0") + "'"


def name(value: str, what: str = "a name") -> str:
    """The name of a database, a table or a column. Raises ``Refused`` for an impossible name."""
    if not value or "\0" in value or value != value.rstrip(" ") or len(value) > LONGEST_NAME:
        raise Refused(
            f"{value!r} cannot be {what}: it needs 1 to {LONGEST_NAME} characters, no NUL, no final blank"
        )
    return "`" + value.replace("`", "``") + "`"


def account(user: str, host: str) -> str:
    """``'user'@'host'``. Servers store host names in lower case."""
    return f"{text(user)}@{text(host.lower())}"


def unquote(value: str) -> str:
    """The name without backticks, if it has any."""
    return value[1:-1].replace("``", "`") if value[:1] == value[-1:] == "`" and len(value) > 1 else value


def literal_pattern(value: str) -> str:
    """A database name for a grant, with ``_`` and ``%`` escaped, which are wildcards there."""
    return "".join(f"\\{sign}" if sign in "\\_%" else sign for sign in value)
