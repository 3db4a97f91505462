"""Normal forms of values, to compare a specification with the report of the engine."""

from __future__ import annotations

from typing import Any

SELINUX_OFF = ("label=disable", "label:disable")  # added by the engine to a privileged container


def bare(value: Any) -> Any:
    """None for empty values: the engine reports 0, "", null, [] and {} for unset ones."""
    return value or None


def bag(value: Any) -> Any:
    """The items sorted: their order has no meaning."""
    return sorted(value, key=str) if value else None


def capabilities(value: Any) -> Any:
    """The capabilities without ``CAP_``, which not all engines write."""
    return sorted({one.upper().removeprefix("CAP_") for one in value}) if value else None


def binds(value: Any) -> Any:
    """The binds without the default ``rw``."""
    return sorted(map(_bind, value)) if value else None


def _bind(line: str) -> str:
    here, there, mode = (*line.split(":"), "", "")[:3]
    kept = [word for word in mode.split(",") if word not in ("", "rw")]
    return ":".join([here, there, ",".join(sorted(kept))][: 3 if kept else 2])


def target(line: str) -> str:
    """The path in the container of a bind."""
    return (*line.split(":"), "")[1]


def links(value: Any) -> Any:
    """The links as ``db:alias``; the engine reports ``/db:/web/alias``."""
    pairs = (one.partition(":") for one in value or ())
    return sorted(f"{other.lstrip('/')}:{alias.rpartition('/')[2]}" for other, _, alias in pairs) or None


def restart_policy(value: Any) -> Any:
    name = (value or {}).get("Name") or "no"
    return None if name == "no" else {"Name": name, "MaximumRetryCount": value.get("MaximumRetryCount") or 0}


def ports(value: Any) -> Any:
    """The bindings, with those of each port sorted."""
    rows = {
        port: sorted(
            ({"HostIp": one.get("HostIp") or "", "HostPort": one.get("HostPort") or ""} for one in places),
            key=str,
        )
        for port, places in (value or {}).items()
        if places
    }
    return rows or None


def names(value: Any) -> Any:
    """The keys of a mapping whose values have no meaning."""
    return sorted(value) if value else None


def records(value: Any) -> Any:
    """Mappings sorted, without empty values."""
    kept = [{key: inner for key, inner in one.items() if inner not in (None, "")} for one in value or ()]
    return sorted(kept, key=str) or None


def security(value: Any) -> Any:
    return bag([one.replace(":", "=", 1) for one in value or () if one not in SELINUX_OFF])


def network(value: Any) -> Any:
    return "bridge" if value in (None, "", "default") else value


def signal(value: Any) -> Any:
    """The signal; SIGTERM is the default."""
    name = str(value or "").upper()
    return None if name in ("", "15", "TERM", "SIGTERM") else name.removeprefix("SIG")


def logging(value: Any) -> Any:
    reported = value or {}
    return {"Type": reported.get("Type") or "", "Config": reported.get("Config") or {}}
