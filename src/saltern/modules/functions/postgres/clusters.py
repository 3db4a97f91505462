"""Data directories, and Debian's clusters."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.databases.postgres import clusters
from saltern.modules.lib.databases.postgres.client import SYSTEM_USER
from saltern.modules.lib.databases.postgres.clusters import Directory, Layout


@function
def cluster_list(ctx: Context, verbose: bool = False) -> list[str] | dict[str, dict[str, object]]:
    """All clusters of this machine, such as ``15/main``. For Debian and its derivatives.

    Args:
        verbose: include ``port``, ``status``, ``user``, ``datadir`` and ``log`` of each.

    Example:
        ```console
        $ saltern call postgres.cluster_list verbose=true
        local:
            ----------
            15/main:
                ----------
                datadir:
                    /var/lib/postgresql/15/main
                log:
                    /var/log/postgresql/postgresql-15-main.log
                port:
                    5432
                status:
                    online
                user:
                    postgres
            …
        ```
    """
    found = clusters.clusters(ctx)
    if not verbose:
        return [f"{one.version}/{one.name}" for one in found]
    keys = ("port", "status", "user", "datadir", "log")
    return {f"{one.version}/{one.name}": {key: getattr(one, key) for key in keys} for one in found}


@function
def cluster_exists(ctx: Context, version: str, name: str = "main") -> bool:
    """True if a cluster exists. For Debian and its derivatives.

    Args:
        version: the version of PostgreSQL, such as ``15``.
        name: the cluster.

    Example:
        ```console
        $ saltern call postgres.cluster_exists 15 main
        local:
            True
        ```
    """
    return clusters.cluster(ctx, str(version), str(name)) is not None


@function
def cluster_create(
    ctx: Context,
    version: str,
    name: str = "main",
    port: int | None = None,
    locale: str | None = None,
    encoding: str | None = None,
    datadir: str | None = None,
    allow_group_access: bool | None = None,
    data_checksums: bool | None = None,
    wal_segsize: int | None = None,
) -> bool:
    """Create a cluster without starting it. For Debian and its derivatives.

    Args:
        version: the version of PostgreSQL, such as ``15``.
        name: the cluster.
        port: the port that it listens on; the next free one if not given.
        locale: the locale of new databases.
        encoding: the encoding of new databases.
        datadir: the directory for its data.
        allow_group_access: let the group of its owner read its files.
        data_checksums: keep checksums of all pages.
        wal_segsize: the size of a WAL segment, in megabytes.

    Example:
        ```console
        $ saltern call postgres.cluster_create 15 second port=5499
        local:
            True
        ```
    """
    layout = Layout(
        port=str(port or ""),
        encoding=str(encoding or ""),
        locale=str(locale or ""),
        datadir=str(datadir or ""),
        allow_group_access=bool(allow_group_access),
        data_checksums=bool(data_checksums),
        wal_segsize=str(wal_segsize or ""),
    )
    clusters.create(ctx, str(version), str(name), layout)
    return True


@function
def cluster_remove(ctx: Context, version: str, name: str = "main", stop: bool = False) -> bool:
    """Remove a cluster with all its data; false if there is none. For Debian and its derivatives.

    Args:
        version: the version of PostgreSQL, such as ``15``.
        name: the cluster.
        stop: stop it first if it is running; otherwise a running cluster is not removed.

    Example:
        ```console
        $ saltern call postgres.cluster_remove 15 second stop=true
        local:
            True
        ```
    """
    if clusters.cluster(ctx, str(version), str(name)) is None:
        return False
    clusters.remove(ctx, str(version), str(name), stop=stop)
    return True


@function
def datadir_exists(ctx: Context, name: str) -> bool:  # noqa: ARG001 - Salt's signature
    """True if a data directory is initialized.

    Args:
        name: the directory.

    Example:
        ```console
        $ saltern call postgres.datadir_exists /var/lib/postgresql/15/main
        local:
            True
        ```
    """
    return clusters.initialized(str(name))


@function
def datadir_init(
    ctx: Context,
    name: str,
    auth: str = "password",
    user: str | None = None,
    password: str | None = None,
    encoding: str = "UTF8",
    locale: str | None = None,
    waldir: str | None = None,
    checksums: bool = False,
    runas: str | None = None,
) -> bool:
    """Initialize a data directory; false if it is initialized already.

    Args:
        name: the directory.
        auth: how local connections authenticate: ``password``, ``scram-sha-256``, ``peer`` …
        user: the name of the server's first superuser; ``runas`` if not given.
        password: that superuser's password.
        encoding: the encoding of new databases.
        locale: the locale of new databases.
        waldir: the directory for the write-ahead log, if not inside the data directory.
        checksums: keep checksums of all pages.
        runas: the system user that the server will run as.

    Example:
        ```console
        $ saltern call postgres.datadir_init /var/lib/postgresql/second auth=peer
        local:
            True
        ```
    """
    if clusters.initialized(str(name)):
        return False
    want = Directory(
        path=str(name),
        auth=auth,
        user=str(user or ""),
        password=str(password or ""),
        encoding=encoding,
        locale=str(locale or ""),
        waldir=str(waldir or ""),
        checksums=checksums,
        runas=runas or ctx.runas or SYSTEM_USER,
    )
    clusters.initialize(ctx, want)
    return True
