"""``postgres_initdb``: the data directory of a PostgreSQL server."""

from __future__ import annotations

import os

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.databases.postgres import clusters
from saltern.modules.lib.databases.postgres.client import SYSTEM_USER
from saltern.modules.lib.databases.postgres.clusters import Directory, initialized


@state
def present(
    ctx: Context,
    name: str,
    *,
    user: str | None = None,
    password: str | None = None,
    auth: str = "password",
    encoding: str = "UTF8",
    locale: str | None = None,
    runas: str | None = None,
    waldir: str | None = None,
    checksums: bool = False,
) -> Result:
    """Make sure that a data directory is initialized; an initialized one is not changed.

    Args:
        name: the directory. ``runas`` must own it, or be allowed to create it.
        user: the name of the server's first superuser; ``runas`` if not given.
        password: that superuser's password; never shown.
        auth: how local connections authenticate: ``password``, ``scram-sha-256``, ``peer``, ``trust`` …
        encoding: the encoding of new databases.
        locale: the locale of new databases.
        runas: the system user that the server will run as.
        waldir: the directory for the write-ahead log, if not inside the data directory.
        checksums: keep checksums of all pages.

    Example:
        ```yaml
        /var/lib/postgresql/second:
          postgres_initdb.present:
            - auth: scram-sha-256
            - user: admin
            - password: 'correct horse battery staple'
            - checksums: true
            - runas: postgres
        ```
    """
    if not os.path.isabs(name):
        raise Refused(f"name must be an absolute path, such as /var/lib/postgresql/data, not {name!r}")
    want = Directory(
        path=name,
        auth=auth,
        user=user or "",
        password=password or "",
        encoding=encoding,
        locale=locale or "",
        waldir=waldir or "",
        checksums=checksums,
        runas=runas or ctx.runas or SYSTEM_USER,
    )
    what = f"Data directory {name}"
    return bring(
        ctx,
        lambda: {} if initialized(name) else {name: "Present"},
        lambda _: clusters.initialize(ctx, want),
        facts=lambda: _facts(ctx, name),
        words=Words(
            f"{what} is already initialized", f"{what} would be initialized", f"{what} was initialized"
        ),
    )


def _facts(ctx: Context, name: str) -> Changes:
    version = ctx.host.read(os.path.join(name, "PG_VERSION")) if initialized(name) else None
    return {"name": name, "exists": version is not None, "version": (version or "").strip() or None}
