"""From the arguments of a repository to a plan of the package manager."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.api.salt_arguments import UNSAFE_TO_IGNORE, harm_of_ignoring
from saltern.modules.lib.packages import choose
from saltern.modules.lib.packages.model import PackageError
from saltern.modules.lib.packages.repositories.model import DesiredRepository, RepositoryPlan

RepositoryPlanner = Callable[[Context, DesiredRepository], RepositoryPlan]
# Arguments with another name in the file.
RENAMED = {"humanname": "name"}
LISTS = {"comps": "comps", "key_url": "key_urls", "keyid": "keyids"}
TEXTS = ("file", "dist", "signedby", "key_text", "keyserver", "ppa", "copr")
# Arguments that are not written to the file: ignored ones of Salt, and those of the state.
NOT_KEPT = frozenset(
    {
        "allow_insecure_key",
        "aptkey",
        "comments",
        "consolidate",
        "gpgautoimport",
        "refresh",
        "refresh_db",
        "saltenv",
        "strict_config",
        *UNSAFE_TO_IGNORE["pkgrepo.managed"],  # checked before
    }
)


def planner(ctx: Context, what: str) -> RepositoryPlanner:
    """``present`` or ``absent`` of this machine's manager. Raises if its files are unknown."""
    from saltern.modules.lib.packages.repositories import apk, apt, rpm

    manager = choose.manager(ctx).name
    plain: Mapping[str, RepositoryPlanner] = {"apt": getattr(apt, what), "apk": getattr(apk, what)}
    if manager in plain:
        return plain[manager]
    if manager not in rpm.PLACES:
        raise PackageError(f"pkgrepo does not know the repositories of {manager}; use file.managed instead")
    return partial(getattr(rpm, what), place=rpm.PLACES[manager])


def desired_repository(name: str, said: Mapping[str, object]) -> DesiredRepository:
    """The specification from Salt's arguments; unknown ones are written to the file unchanged."""
    refuse_unsafe("pkgrepo.managed", said)
    given = {key: value for key, value in said.items() if value is not None and key not in NOT_KEPT}
    texts = {key: str(given.pop(key)) for key in TEXTS if key in given}
    lists = {field: words(given.pop(key)) for key, field in LISTS.items() if key in given}
    return DesiredRepository(
        name=name,
        enabled=_read_enabled(given.pop("enabled", None), given.pop("disabled", None)),
        clean_file=bool(given.pop("clean_file", False)),
        architectures=",".join(words(given.pop("architectures", None))) or None,
        values={RENAMED.get(key, key): value for key, value in given.items()},
        **texts,  # type: ignore[arg-type]
        **lists,  # type: ignore[arg-type]
    )


def refuse_unsafe(key: str, said: Mapping[str, object]) -> None:
    """Raise for arguments that must not be ignored, in functions that accept any argument."""
    for name, value in said.items():
        if harm := harm_of_ignoring(key, name, value):
            raise BadArgument(f"the argument {name!r} is not supported: {harm}")


def _read_enabled(enabled: object, disabled: object) -> bool | None:
    if enabled is not None and disabled is not None and bool(enabled) == bool(disabled):
        raise BadArgument("enabled and disabled contradict each other; give one of them")
    if enabled is None and disabled is None:
        return None
    return bool(enabled) if disabled is None else not disabled


def words(value: object) -> tuple[str, ...]:
    """A list, or one text with commas."""
    if value is None:
        return ()
    items = value if isinstance(value, list | tuple) else str(value).split(",")
    return tuple(str(item).strip() for item in items if str(item).strip())
