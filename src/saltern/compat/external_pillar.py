"""The sources of ``ext_pillar`` that are built in, one row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from msgspec import Struct

from saltern.compat.pillars.ports import Asked, SourceError
from saltern.language.diagnostics import Diagnostic, OperationError, PillarError


class Source(Struct, frozen=True):
    """``code`` is ``module:function`` in ``pillars``; ``needs`` is what to install for it."""

    code: str
    doc: str
    needs: str = ""


SOURCES: dict[str, Source] = {
    "cmd_json": Source(
        "commands:cmd_json", "The output of a command, as JSON; `%s` is the name of the machine."
    ),
    "cmd_yaml": Source("commands:cmd_yaml", "The output of a command, as YAML."),
    "cmd_yamlex": Source("commands:cmd_yaml", "The same; Salt's additions to YAML are not supported."),
    "file": Source("commands:file", "A YAML or JSON file, by the name of the machine."),
    "file_tree": Source("file_tree:file_tree", "Directories as mappings, and files as values."),
    "git": Source("git:git", "Pillar files of branches of git repositories.", "git"),
    "http_json": Source("http:http_json", "The response of a web server, as JSON."),
    "http_yaml": Source("http:http_yaml", "The response of a web server, as YAML."),
    "mysql": Source("databases:mysql", "Rows of MySQL or MariaDB.", "pymysql or mysqlclient"),
    "postgres": Source("databases:postgres", "Rows of PostgreSQL.", "psycopg"),
    "sqlite3": Source("databases:sqlite3", "Rows of a database file."),
    "stack": Source("stack:stack", "PillarStack: YAML templates that a configuration lists, merged."),
    "vault": Source(
        "vault:vault", "A path of Vault's key-value store, version 1 or 2; its values are secret."
    ),
}


def external(name: str, given: object, asked: Asked) -> Mapping[object, object]:
    """The pillar from a source of this table. Raises ``PillarError``, which contains no data."""
    module, _, function = SOURCES[name].code.partition(":")
    try:
        source: Callable[[Asked, object], object] = getattr(
            import_module(f"saltern.compat.pillars.{module}"), function
        )
        found = source(asked, given)
    except (SourceError, OSError, ValueError) as problem:
        raise _wrong(name, _reason(problem)) from None
    except OperationError as problem:
        raise _wrong(name, problem.diagnostics[0].what) from None
    except PillarError:
        raise
    except Exception as problem:
        raise _wrong(name, f"its output cannot be read ({type(problem).__name__})") from None
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise _wrong(name, f"it gave {type(found).__name__}, not a dictionary")
    return found


def _reason(problem: Exception) -> str:
    return problem.strerror or str(problem) if isinstance(problem, OSError) else str(problem)


def _wrong(name: str, why: str) -> PillarError:
    what = f"ext_pillar {name!r} failed: {why}"
    return PillarError(
        Diagnostic(code="ext-pillar", what=what, fix="run the command or check the source by hand")
    )
