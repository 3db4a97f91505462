"""Locales: the available ones, and that of the machine."""

from __future__ import annotations

import os
import re

from saltern.modules.api.context import Context
from saltern.modules.api.programs import has, tool
from saltern.modules.api.refused import Refused, one_line
from saltern.modules.lib.tables import settings

DEBIAN = "/etc/default/locale"
SYSTEMD = "/etc/locale.conf"
LOCALE_GEN = "/etc/locale.gen"
SUPPORTED = "/usr/share/i18n/SUPPORTED"
NAME = re.compile(
    r"(?P<language>[A-Za-z]{1,8}(?:_[A-Za-z]{1,3})?)(?:\.(?P<codeset>[\w-]+))?(?:@(?P<modifier>\w+))?"
)


def check_name(name: str) -> str:
    if NAME.fullmatch(name.split()[0] if name.split() else "") is None:
        raise Refused(f"{name!r} cannot be the name of a locale; use a name such as de_DE.UTF-8")
    return one_line(name, "the locale")


def normal(name: str) -> str:
    """The normal form, the same for ``de_DE.UTF-8``, ``de_DE.utf8`` and ``de_DE.UTF-8 UTF-8``."""
    found = NAME.fullmatch(name.split()[0])
    if found is None:
        return name
    codeset = (found["codeset"] or "").lower().replace("-", "")
    return (
        found["language"]
        + (f".{codeset}" if codeset else "")
        + (f"@{found['modifier']}" if found["modifier"] else "")
    )


def available(ctx: Context) -> list[str]:
    return tool(ctx, "locale", "-a").out.split()


def is_available(ctx: Context, name: str) -> bool:
    return normal(name) in map(normal, available(ctx))


def place(ctx: Context) -> str:
    """The file of the machine's locale; Debian's own if there is no other."""
    debian = ctx.grains.get("os_family") == "Debian" or os.path.exists(DEBIAN)
    return DEBIAN if debian and not os.path.exists(SYSTEMD) else SYSTEMD


def current(ctx: Context) -> str:
    return settings.values(settings.read(ctx, place(ctx))).get("LANG", "").strip("\"'")


def set_current(ctx: Context, name: str) -> None:
    """Set the locale with localectl under systemd; else in the file."""
    if os.path.isdir("/run/systemd/system") and has("localectl"):
        tool(ctx, "localectl", "set-locale", f"LANG={check_name(name)}")
        return
    text = settings.read(ctx, place(ctx))
    ctx.host.write(place(ctx), settings.with_value(text, "LANG", check_name(name), separator="="))


def generate(ctx: Context, name: str) -> None:
    """Generate a locale with locale-gen and its list, or else with localedef."""
    short = check_name(name).split()[0]
    if not has("locale-gen"):
        found = NAME.fullmatch(short)
        assert found is not None
        source = found["language"] + (f"@{found['modifier']}" if found["modifier"] else "")
        tool(ctx, "localedef", "-i", source, "-f", found["codeset"] or "UTF-8", short)
        return
    _list_locale(ctx, name, short)
    tool(ctx, "locale-gen")


def _list_locale(ctx: Context, name: str, short: str) -> None:
    if not os.path.exists(LOCALE_GEN):
        return  # Ubuntu keeps its list elsewhere, and locale-gen accepts the name
    known = {normal(line): line for line in (ctx.host.read(SUPPORTED) or "").splitlines() if line.split()}
    line = known.get(normal(name)) or (name if " " in name else f"{short} {_codeset(short)}")
    if known and normal(name) not in known:
        raise Refused(f"{short!r} is not a locale that this machine can generate; {SUPPORTED} lists them")
    text = ctx.host.read(LOCALE_GEN) or ""
    lines = text.splitlines()
    if line in (one.strip() for one in lines):
        return
    commented = next((one for one in lines if one.lstrip("# ").strip() == line), None)
    new = [line if one is commented else one for one in lines] if commented else [*lines, line]
    ctx.host.write(LOCALE_GEN, "".join(f"{one}\n" for one in new))


def _codeset(short: str) -> str:
    return short.partition(".")[2].partition("@")[0] or "ISO-8859-1"
