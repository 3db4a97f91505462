"""The specification of a container: the request to the engine, and the differences of an existing one.

The engine merges the request with the defaults of the image. That merge is done here, too, so that
containers can be compared without creating one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from saltern.modules.api.converge import Changes
from saltern.modules.lib.containers import forms
from saltern.modules.lib.containers.driver_secrets import hide_passwords
from saltern.modules.lib.containers.endpoints import Endpoints
from saltern.modules.lib.containers.engine import Seen
from saltern.modules.lib.containers.options import CONFIG, HOST, OPTIONS, Option


class DesiredContainer(Struct, frozen=True, kw_only=True):
    image: str
    options: dict[str, Any]
    networks: Endpoints | None = None  # None: they are not compared

    def body(self) -> dict[str, Any]:
        """The body for ``/containers/create``."""
        host = {row.key: self.options[row.name] for row in _rows(HOST) if row.name in self.options}
        own = {row.key: self.options[row.name] for row in _rows(CONFIG) if row.name in self.options}
        made: dict[str, Any] = {**own, "Image": self.image, "HostConfig": host}
        if self.networks is not None and not self.networks:
            host["NetworkMode"] = "none"
        if self.networks:
            first = self.first_network()
            host["NetworkMode"] = first
            made["NetworkingConfig"] = {"EndpointsConfig": {first: self.networks[first].body()}}
        return made

    def first_network(self) -> str:
        """The network it is created in; engines still accept only one."""
        assert self.networks
        asked = str(self.options.get("network_mode", ""))
        return asked if asked in self.networks else next(iter(self.networks))


def _rows(part: str) -> list[Option]:
    return [row for row in OPTIONS.values() if row.part == part]


def differences(want: DesiredContainer, seen: Seen, image: Seen | None) -> Changes:
    """``{Config: {Cmd: {old, new}}, HostConfig: …}``; ``image`` is None if it does not exist yet."""
    found: Changes = {}
    for part in (CONFIG, HOST):
        reported = seen.get(part) or {}
        rows = {row.key: one for row in _rows(part) if (one := _difference(row, want, seen, reported, image))}
        if rows:
            found[part] = rows
    return found


def _difference(
    row: Option, want: DesiredContainer, seen: Seen, reported: Mapping[str, Any], image: Seen | None
) -> Changes | None:
    wanted = want.options.get(row.name)
    if not _looked_at(row, want, image):
        return None
    if row.part == CONFIG and image is not None:
        wanted = MERGED.get(row.key, _own_or_image)(want, row, image.get("Config") or {})
    old, new = row.form(reported.get(row.key)), row.form(wanted)
    if row.key == "Volumes":
        covered = _covered_differences(want, seen)
        old, new = ([one for one in names or () if one not in covered] or None for names in (old, new))
    if row.key == "LogConfig" and new and not new["Type"]:
        new = {**new, "Type": old["Type"]}
    if old == new:
        return None
    return SHOWN.get(row.key, _pair)(old, new)


def _looked_at(row: Option, want: DesiredContainer, image: Seen | None) -> bool:
    if row.key == "NetworkMode" and want.networks is not None:
        return str(want.options.get("network_mode")) in want.networks
    if row.name in want.options:
        return True
    return row.owned and not (row.part == CONFIG and image is None)


def _covered_differences(want: DesiredContainer, seen: Seen) -> set[str]:
    """The differences without volumes of bound paths, which some clients declare needlessly."""
    host = seen.get(HOST) or {}
    return {forms.target(one) for one in (*(want.options.get("binds") or ()), *(host.get("Binds") or ()))}


def _own_or_image(want: DesiredContainer, row: Option, image: Mapping[str, Any]) -> Any:
    return want.options.get(row.name) or image.get(row.key)


def _only_own(want: DesiredContainer, row: Option, image: Mapping[str, Any]) -> Any:  # noqa: ARG001 - one shape for all
    return want.options.get(row.name)


def _both(want: DesiredContainer, row: Option, image: Mapping[str, Any]) -> Any:
    return {**(image.get(row.key) or {}), **(want.options.get(row.name) or {})}


def _environment(want: DesiredContainer, row: Option, image: Mapping[str, Any]) -> Any:
    own = want.options.get(row.name) or []
    taken = {one.partition("=")[0] for one in own}
    return [*own, *(one for one in image.get("Env") or () if one.partition("=")[0] not in taken)]


def _command(want: DesiredContainer, row: Option, image: Mapping[str, Any]) -> Any:
    """The image's command belongs to the image's entrypoint."""
    if row.name in want.options or "entrypoint" in want.options:
        return want.options.get(row.name)
    return image.get(row.key)


MERGED: dict[str, Callable[[DesiredContainer, Option, Mapping[str, Any]], Any]] = {
    "Cmd": _command,
    "Env": _environment,
    "ExposedPorts": _both,
    "Labels": _both,
    "Volumes": _both,
    "NetworkDisabled": _only_own,
    "OpenStdin": _only_own,
    "Tty": _only_own,
}


def _pair(old: Any, new: Any) -> Changes:
    return {"old": old, "new": new}


def _names_only(old: Any, new: Any) -> Changes:
    """Only the names of differing variables: environments contain passwords."""
    gone, come = set(old or ()) - set(new or ()), set(new or ()) - set(old or ())
    return {
        "old": sorted({one.partition("=")[0] for one in gone}),
        "new": sorted({one.partition("=")[0] for one in come}),
    }


def _without_secrets(old: Any, new: Any) -> Changes:
    return {
        when: {**reported, "Config": hide_passwords(reported["Config"])}
        for when, reported in (("old", old), ("new", new))
    }


SHOWN: dict[str, Callable[[Any, Any], Changes]] = {"Env": _names_only, "LogConfig": _without_secrets}
