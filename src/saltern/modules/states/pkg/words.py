"""Arguments and texts that the states of ``pkg`` share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from saltern.modules.api.params import Unused
from saltern.modules.lib.packages.model import How

# Salt passes these on to some package managers; here they have no effect.
MEANINGLESS = frozenset(
    {"pkg_verify", "skip_suggestions", "report_reboot_exit_codes", "resolve_capabilities", "watch_flags"}
    | {"bypass_file", "bypass_file_contains", "force_yes", "use_vt", "output_loglevel", "aggregate"}
    | {"disableexcludes", "setopt", "novendorchange", "no_recommends", "failhard", "saltenv"}
    | {"root", "downloadonly", "download_only", "dryrun"}  # refused, unless they ask for nothing
)


class RepositoryArguments(TypedDict, total=False):
    """Where packages come from.

    Args:
        fromrepo: the repository, or on Debian the release (``bookworm-backports``), to take them from.
        skip_verify: also accept unsigned packages.
        enablerepo, disablerepo: repositories to enable or disable, for dnf and yum.
    """

    fromrepo: str | None
    skip_verify: bool
    enablerepo: list[str] | None
    disablerepo: list[str] | None
    _: Unused


def how_from(given: RepositoryArguments) -> How:
    """The options of a transaction that takes packages from there."""
    return How(
        fromrepo=given.get("fromrepo") or "",
        skip_verify=given.get("skip_verify", False),
        enablerepo=tuple(given.get("enablerepo") or ()),
        disablerepo=tuple(given.get("disablerepo") or ()),
    )


def join_names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
