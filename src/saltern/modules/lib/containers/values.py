"""Values of an SLS → the form of the engine's API. A reader raises ``Refused`` with the expected form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from saltern.modules.api.params import FALSE_WORDS, TRUE_WORDS
from saltern.modules.api.refused import Refused

UNITS: dict[str, int] = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
SECONDS: dict[str, float] = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
NANO = 1_000_000_000


def text(value: object) -> str:
    if isinstance(value, dict | list | None):
        raise Refused(f"needs text, got {value!r}")
    return str(value)


def flag(value: object) -> bool:
    word = str(value).lower()
    if word not in TRUE_WORDS | FALSE_WORDS:
        raise Refused(f"needs true or false, got {value!r}")
    return word in TRUE_WORDS


def number(value: object) -> int:
    try:
        return int(str(value))
    except ValueError:
        raise Refused(f"needs a whole number, got {value!r}") from None


def size(value: object) -> int:
    """A size from ``512m``, ``1g`` or a number of bytes; ``-1`` for no limit."""
    written = str(value).strip().lower().removesuffix("ib")
    digits = written.rstrip("bkmgt")
    unit = written[len(digits) :]
    unit = unit[:-1] if len(unit) == 2 and unit.endswith("b") else unit
    try:
        return int(float(digits) * UNITS[unit])
    except (ValueError, KeyError, OverflowError):
        raise Refused(f"needs a size such as 512m or 1g, got {value!r}") from None


def words(value: object) -> list[str]:
    """A command: a list, or a line that is split as a shell would."""
    if isinstance(value, list | tuple):
        return [text(one) for one in value]
    import shlex

    try:
        return shlex.split(text(value))
    except ValueError as problem:
        raise Refused(f"cannot be split into words: {str(problem).lower()}") from None


def items(value: object) -> list[object]:
    """A list, or one text with commas."""
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, Mapping):
        return [value]
    return [one.strip() for one in text(value).split(",") if one.strip()]


def texts(value: object) -> list[str]:
    return [text(one) for one in items(value)]


def addresses(value: object) -> list[str]:
    return [address(one) for one in texts(value)]


def address(value: str) -> str:
    from ipaddress import ip_address

    try:
        ip_address(value)
    except ValueError:
        raise Refused(
            f"{value!r} is not an IP address; set validate_ip_addrs to False to send it anyway"
        ) from None
    return value


def pairs(value: object, sign: str = "=", *, lonely: bool = False) -> dict[str, Any]:
    """``{name: value}``, a list of such or of ``name=value``, or the latter with commas.

    ``lonely`` allows a name without a value, which then is None.
    """
    found: dict[str, Any] = {}
    for one in items(value):
        if isinstance(one, Mapping):
            found |= {str(name): None if inner is None else plain(inner) for name, inner in one.items()}
            continue
        name, has, rest = text(one).partition(sign)
        if not name or not (has or lonely):
            raise Refused(f"needs name{sign}value, got {name + has if has else name!r}")
        found[name] = rest if has else None
    return found


def plain(value: object) -> str:
    """A value of a mapping as text; YAML's true becomes ``true``."""
    return str(value).lower() if isinstance(value, bool) else text(value)


def environment(value: object) -> list[str]:
    """The environment; a name without a value removes that variable of the image."""
    try:
        given = pairs(value, lonely=True)
    except Refused:  # its message would show the value
        raise Refused("needs NAME=value, {NAME: value} or a list of them") from None
    if any(not name or "=" in name or "\0" in name for name in given):
        raise Refused("has a name that is empty or contains '='")
    return [name if inner is None else f"{name}={inner}" for name, inner in given.items()]


def labels(value: object) -> dict[str, str]:
    return {name: inner or "" for name, inner in pairs(value, lonely=True).items()}


def settings(value: object) -> dict[str, str]:
    return {name: "" if inner is None else inner for name, inner in pairs(value).items()}


def colon_pairs(value: object) -> list[str]:
    return [f"{name}:{inner}" for name, inner in pairs(value, ":").items()]


def binds(value: object) -> list[str]:
    """``/here:/there:ro``; or ``{/here: {bind: /there, mode: ro}}``."""
    found = []
    for one in items(value):
        if isinstance(one, Mapping):
            found += [_bind(str(here), there) for here, there in one.items()]
        else:
            found.append(_bind(*text(one).partition(":")[::2]))
    return found


def _bind(here: str, there: object) -> str:
    if isinstance(there, Mapping):
        mode = there.get("mode") or ("ro" if there.get("ro") else "")
        there = f"{there.get('bind', '')}{f':{mode}' if mode else ''}"
    if not here or not str(there).startswith("/"):
        raise Refused(f"needs /here:/there, the second an absolute path; got {f'{here}:{there}'!r}")
    return f"{here}:{there}"


def volumes(value: object) -> dict[str, dict[str, str]]:
    """Paths in the container."""
    found = [text(one).partition(":") for one in items(value)]
    return {(there.partition(":")[0] if has else here): {} for here, has, there in found}


def restart_policy(value: object) -> dict[str, object]:
    """``always``, ``unless-stopped``, ``on-failure:5``."""
    if isinstance(value, Mapping):
        given = {str(key).lower(): inner for key, inner in value.items()}
        return {"Name": given.get("name", ""), "MaximumRetryCount": number(given.get("maximumretrycount", 0))}
    name, _, count = ("no" if value is False else text(value)).partition(":")  # YAML's bare no is false
    if name not in ("", "no", "always", "unless-stopped", "on-failure"):
        raise Refused(f"needs no, always, unless-stopped or on-failure[:times], got {value!r}")
    return {"Name": name, "MaximumRetryCount": number(count or 0)}


def devices(value: object) -> list[dict[str, str]]:
    """``/dev/here:/dev/there:rwm``."""
    found = []
    for one in texts(value):
        here, _, rest = one.partition(":")
        there, _, rights = rest.partition(":")
        if there and not there.startswith("/"):
            there, rights = "", there
        found.append(
            {"PathOnHost": here, "PathInContainer": there or here, "CgroupPermissions": rights or "rwm"}
        )
    return found


def per_device(key: str, read: Callable[[object], int]) -> Callable[[object], list[dict[str, object]]]:
    """``/dev/sda:10mb`` as ``{Path: /dev/sda, key: 10485760}``."""

    def translate(value: object) -> list[dict[str, object]]:
        return [{"Path": path, key: read(inner)} for path, inner in pairs(value, ":").items()]

    return translate


def ulimits(value: object) -> list[dict[str, object]]:
    """``nofile=1024:2048``: soft, hard."""
    found: list[dict[str, object]] = []
    for one in items(value):
        if isinstance(one, Mapping) and {"name", "Name"} & one.keys():
            given = {str(key).lower(): inner for key, inner in one.items()}
            found.append(_ulimit(str(given["name"]), given.get("soft"), given.get("hard")))
        else:
            found += [
                _ulimit(name, *str(limits).partition(":")[::2]) for name, limits in pairs([one]).items()
            ]
    return found


def _ulimit(name: str, soft: object, hard: object) -> dict[str, object]:
    low = number(hard if soft is None else soft)
    return {"Name": name, "Soft": low, "Hard": low if hard in (None, "") else number(hard)}


def tmpfs(value: object) -> dict[str, str]:
    """``{/run: size=1m}``, or a list of ``/run:size=1m``."""
    given = pairs(value, ":", lonely=True)
    return {path: inner or "" for path, inner in given.items()}


def healthcheck(value: object) -> dict[str, object]:
    """``{test: command, interval: 30s, timeout: 5s, retries: 3, start_period: 10s}``."""
    keys = {
        "test": "Test",
        "interval": "Interval",
        "timeout": "Timeout",
        "retries": "Retries",
        "startperiod": "StartPeriod",
    }
    readers = {"Test": _probe, "Retries": number}
    given = value if isinstance(value, Mapping) else pairs(value)
    found: dict[str, object] = {}
    for name, inner in given.items():
        key = keys.get(str(name).lower().replace("_", ""))
        if key is None:
            raise Refused(f"has {', '.join(keys)}; not {name!r}")
        found[key] = readers.get(key, _nanoseconds)(inner)
    return found


def _probe(value: object) -> object:
    return texts(value) if isinstance(value, list | tuple) else ["CMD-SHELL", text(value)]


def _nanoseconds(value: object) -> int:
    """Nanoseconds from ``30s``; a bare number is in nanoseconds already."""
    if isinstance(value, int):
        return value
    unit = next((one for one in SECONDS if str(value).endswith(one)), None)
    try:
        return int(float(str(value).removesuffix(unit or "")) * SECONDS[unit or "s"] * NANO)
    except ValueError:
        raise Refused(f"needs a time such as 30s, got {value!r}") from None


def mapping(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise Refused(f"needs a mapping, got {value!r}")
    return dict(value)
