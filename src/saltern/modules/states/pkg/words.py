"""Arguments and texts that the states of ``pkg`` share."""

from __future__ import annotations

from collections.abc import Iterable

# Salt passes these on to some package managers; here they have no effect.
MEANINGLESS = frozenset(
    {"pkg_verify", "skip_suggestions", "report_reboot_exit_codes", "resolve_capabilities", "watch_flags"}
    | {"bypass_file", "bypass_file_contains", "force_yes", "use_vt", "output_loglevel", "aggregate"}
    | {"disableexcludes", "setopt", "novendorchange", "no_recommends", "failhard", "saltenv"}
    | {"root", "downloadonly", "download_only", "dryrun"}  # refused, unless they ask for nothing
)


def join_names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
