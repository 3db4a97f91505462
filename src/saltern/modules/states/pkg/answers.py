"""How ``pkg`` states answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from saltern.language.diagnostics import did_you_mean

# Salt hands these on to one package manager or another; here they mean nothing.
UNUSED = frozenset(
    {"pkg_verify", "skip_suggestions", "report_reboot_exit_codes", "resolve_capabilities", "watch_flags"}
    | {"bypass_file", "bypass_file_contains", "force_yes", "use_vt", "output_loglevel", "aggregate"}
    | {"disableexcludes", "setopt", "novendorchange", "no_recommends", "failhard", "saltenv"}
)


def named(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def unused(rest: Mapping[str, object], known: Iterable[str]) -> tuple[str, ...]:
    """Salt takes any argument here and forgets it; so do we, and say so."""
    listed = tuple(known)
    return tuple(
        f"argument {name!r} has no effect here" + (f"; {hint}" if hint else "")
        for name in rest
        if name not in UNUSED and not name.startswith("__")
        for hint in (did_you_mean(name, listed),)
    )
