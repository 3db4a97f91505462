"""Repositories of dnf, yum and zypper: a section in a file."""

from __future__ import annotations

import os
from collections.abc import Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.api.programs import PLAIN_UTF8
from saltern.modules.lib.packages.model import PackageError
from saltern.modules.lib.packages.repositories import ini
from saltern.modules.lib.packages.repositories.model import DesiredRepository, RepositoryPlan
from saltern.modules.lib.packages.tool import why

PLACES = {"dnf": "/etc/yum.repos.d", "yum": "/etc/yum.repos.d", "zypper": "/etc/zypp/repos.d"}
ADDRESSES = ("baseurl", "mirrorlist", "metalink")
ZYPPER = {"url": "baseurl", "cache": "keeppackages"}  # Salt's names, and those in the file
COPR = "copr.fedorainfracloud.org"


def present(ctx: Context, want: DesiredRepository, place: str) -> RepositoryPlan:
    """Write the section; its other values stay."""
    if want.copr:
        return _copr(ctx, want, place, on=True)
    _check_name(want.name)
    path = want.file or _home(ctx, place, want.name) or os.path.join(place, f"{want.name}.repo")
    text = ctx.host.read(path) or ""
    old = ini.sections(text).get(want.name)
    new = {
        **(old or {"name": want.name, "enabled": "1"}),
        **_values(want, ZYPPER if place == PLACES["zypper"] else {}),
    }
    if not any(new.get(key) for key in ADDRESSES):
        raise BadArgument(f"the repository {want.name} has no URL; give baseurl, mirrorlist or metalink")
    changes: dict[str, object] = (
        {"repo": want.name}
        if old is None
        else {key: _value_change(key, old.get(key), new[key]) for key in new if new[key] != old.get(key)}
    )

    def act() -> None:
        ctx.host.makedirs(os.path.dirname(path))
        ctx.host.write(path, ini.with_section(text, want.name, new))

    return RepositoryPlan(changes=changes, act=act, data={"file": path, **_hide_secrets(new)})


def absent(ctx: Context, want: DesiredRepository, place: str) -> RepositoryPlan:
    """Remove the section, and the file if it has no other."""
    if want.copr:
        return _copr(ctx, want, place, on=False)
    path = want.file or _home(ctx, place, want.name) or ""
    text = (ctx.host.read(path) if path else None) or ""
    there = want.name in ini.sections(text)
    new = ini.without_section(text, want.name)

    def act() -> None:
        if new.strip():
            ctx.host.write(path, new)
        else:
            ctx.host.remove(path)

    return RepositoryPlan(changes={"repo": want.name} if there else {}, act=act, data={"repo": want.name})


def repositories(ctx: Context, place: str) -> dict[str, dict[str, str]]:
    """All sections of all files, each with its ``file``."""
    found: dict[str, dict[str, str]] = {}
    for path in _files(place):
        for name, values in ini.sections(ctx.host.read(path) or "").items():
            found[name] = {**values, "file": path}
    return found


def _files(place: str) -> list[str]:
    names = sorted(os.listdir(place)) if os.path.isdir(place) else []
    return [os.path.join(place, name) for name in names if name.endswith(".repo")]


def _home(ctx: Context, place: str, name: str) -> str | None:
    """The file that has the section already."""
    return next((one for one in _files(place) if name in ini.sections(ctx.host.read(one) or "")), None)


def _check_name(name: str) -> None:
    if not name or any(sign in name for sign in "[]/\n ") or name.startswith((".", "-")):
        raise BadArgument(f"{name!r} cannot name a repository; use letters, digits, '.', '_', ':' and '-'")


def _values(want: DesiredRepository, names: Mapping[str, str]) -> dict[str, str]:
    values = {names.get(key, key): _text(value) for key, value in want.values.items() if value is not None}
    if want.enabled is not None:
        values["enabled"] = _text(want.enabled)
    if want.key_urls and "gpgkey" not in values:
        values["gpgkey"] = "\n".join(want.key_urls)
    return values


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, list | tuple):
        return "\n".join(map(str, value))
    return str(value)


SECRET = frozenset({"password", "proxy_password"})


def _hide_secrets(values: dict[str, str]) -> dict[str, object]:
    return {key: "********" if key in SECRET else value for key, value in values.items()}


def _value_change(key: str, old: str | None, new: str) -> object:
    return "changed" if key in SECRET else {"old": old, "new": new}


def _copr(ctx: Context, want: DesiredRepository, place: str, *, on: bool) -> RepositoryPlan:
    if place != PLACES["dnf"]:
        raise BadArgument(
            f"the project {want.copr} of copr is for dnf; name its repository with baseurl instead"
        )
    owner, slash, project = str(want.copr).partition("/")
    if not (owner and slash and project) or owner.startswith("-"):
        raise BadArgument(f"copr needs owner/project, got {want.copr!r}")
    section = f"copr:{COPR}:{owner.replace('@', 'group_')}:{project}"
    there = repositories(ctx, place).get(section, {}).get("enabled", "0") == "1"

    def act() -> None:
        argv = ["dnf", "-y", "copr", "enable" if on else "remove", f"{owner}/{project}"]
        ran = ctx.host.run(argv, env=PLAIN_UTF8)
        if "No such command" in ran.err + ran.out:
            raise PackageError("dnf needs a plugin for copr; install dnf-plugins-core first")
        if ran.code:
            raise PackageError(f"the project {want.copr} of copr: {why(argv, ran)}")

    changes: dict[str, object] = {"repo": f"copr:{want.copr}"} if there != on else {}
    return RepositoryPlan(changes=changes, act=act, data={"repo": section, "enabled": there})
