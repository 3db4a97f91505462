"""``postgres_cluster``: PostgreSQL clusters of a machine, as Debian manages them."""

from __future__ import annotations

import os

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.databases.postgres import clusters
from saltern.modules.lib.databases.postgres.clusters import Cluster, Layout, check_value


@state
def present(
    ctx: Context,
    name: str,
    *,
    version: str,
    port: int | None = None,
    encoding: str | None = None,
    locale: str | None = None,
    datadir: str | None = None,
    allow_group_access: bool = False,
    data_checksums: bool = False,
    wal_segsize: int | None = None,
) -> Result:
    """Make sure that a cluster exists; it is not started. For Debian and its derivatives.

    Args:
        name: the name of the cluster, such as ``main``.
        version: the version of PostgreSQL, such as ``15``.
        port: the port that it listens on; the next free one if not given. Cannot be changed here later.
        encoding: the encoding of new databases; for a new cluster only.
        locale: the locale of new databases; for a new cluster only.
        datadir: the directory for its data. Cannot be changed later.
        allow_group_access: let the group of its owner read its files; for a new cluster only.
        data_checksums: keep checksums of all pages; for a new cluster only.
        wal_segsize: the size of a WAL segment, in megabytes; for a new cluster only.

    Example:
        ```yaml
        second:
          postgres_cluster.present:
            - version: '15'
            - port: 5499
            - encoding: UTF8
        ```
    """
    check_value(version, "version")
    check_value(name, "name")
    layout = Layout(
        port=str(port or ""),
        encoding=encoding or "",
        locale=locale or "",
        datadir=datadir or "",
        allow_group_access=allow_group_access,
        data_checksums=data_checksums,
        wal_segsize=str(wal_segsize or ""),
    )
    _unchangeable(clusters.cluster(ctx, version, name), port, datadir)
    what = f"Cluster {version}/{name}"
    return bring(
        ctx,
        lambda: {} if clusters.cluster(ctx, version, name) else {f"{version}/{name}": "Present"},
        lambda _: clusters.create(ctx, version, name, layout),
        facts=lambda: _facts(ctx, version, name),
        words=Words(f"{what} is already present", f"{what} would be created", f"{what} was created"),
    )


def _unchangeable(have: Cluster | None, port: int | None, datadir: str | None) -> None:
    if have is None:
        return
    wrong = {
        "port": (port or have.port, have.port),
        "datadir": (os.path.normpath(datadir or have.datadir), os.path.normpath(have.datadir)),
    }
    for key, (want, now) in wrong.items():
        if want != now:
            raise Refused(
                f"cluster {have.version}/{have.name} has the {key} {now}, not {want}, which is not changed "
                "here; change its configuration, or remove it first"
            )


def _facts(ctx: Context, version: str, name: str) -> Changes:
    have = clusters.cluster(ctx, version, name)
    return have.facts() if have else {"name": name, "version": version, "exists": False}


@state(removes=True)
def absent(ctx: Context, name: str, *, version: str) -> Result:
    """Stop a cluster and remove it with all its data, its configuration and its log.

    Args:
        name: the name of the cluster.
        version: the version of PostgreSQL.

    Example:
        ```yaml
        unused:
          postgres_cluster.absent:
            - version: '15'
        ```
    """
    check_value(version, "version")
    check_value(name, "name")
    what = f"Cluster {version}/{name}"
    return bring(
        ctx,
        lambda: {name: "Absent"} if clusters.cluster(ctx, version, name) else {},
        lambda _: clusters.remove(ctx, version, name, stop=True),
        facts=lambda: _facts(ctx, version, name),
        words=Words(f"{what} is not present", f"{what} would be removed", f"{what} was removed"),
    )
