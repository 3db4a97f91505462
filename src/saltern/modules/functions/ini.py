"""``ini``: read and change INI files."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import os
from collections.abc import Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import absolute, explain_errors
from saltern.modules.lib.ini.edit import File, load, save, text_of
from saltern.modules.lib.ini.text import IniText

Sections = dict[str, dict[str, str]]


def _read(path: str, separator: str, encoding: str | None = None) -> IniText:
    """Read a file; a missing or unreadable one has no sections."""
    try:
        ini, _ = load(File(path=path, separator=separator, encoding=encoding))
    except OSError:
        return IniText("")
    return ini


@function
def get_option(
    ctx: Context,
    file_name: str,
    section: str,
    option: str,
    separator: str = "=",
    encoding: str | None = None,
) -> str | None:
    """The value of an option, or None.

    Example:
        ```console
        $ saltern call ini.get_option /etc/app.ini main port
        local:
            80
        ```
    """
    return _read(file_name, separator, encoding).options(section or "").get(option)


@function
def get_section(
    ctx: Context, file_name: str, section: str, separator: str = "=", encoding: str | None = None
) -> dict[str, str]:
    """The options of a section.

    Example:
        ```console
        $ saltern call ini.get_section /etc/app.ini main
        local:
            ----------
            host:
                localhost
            port:
                80
        ```
    """
    return _read(file_name, separator, encoding).options(section or "")


@function
def get_ini(ctx: Context, file_name: str, separator: str = "=", encoding: str | None = None) -> Sections:
    """The whole file.

    Example:
        ```console
        $ saltern call ini.get_ini /etc/app.ini
        local:
            ----------
            main:
                ----------
                host:
                    localhost
                port:
                    80
            old:
                ----------
                flag:
                    1
        ```
    """
    ini = _read(file_name, separator, encoding)
    first = {"": ini.options("")} if ini.options("") else {}
    return {**first, **{section: ini.options(section) for section in ini.sections()}}


@function
def set_option(
    ctx: Context,
    file_name: str,
    sections: object = None,
    separator: str = "=",
    encoding: str | None = None,
    no_spaces: bool = False,
) -> dict[str, object]:
    """Set options, ``{section: {option: value}}``. Returns the old and new values.

    Example:
        ```console
        $ saltern call ini.set_option /etc/app.ini '{main: {port: 8080}}'
        local:
            ----------
            main:
                ----------
                port:
                    ----------
                    after:
                        8080
                    before:
                        80
        ```
    """
    if not isinstance(sections, Mapping):
        raise BadArgument("ini.set_option needs sections, {section: {option: value}}")
    file = File(path=absolute(file_name), separator=separator, encoding=encoding, no_spaces=no_spaces)
    changes: dict[str, object] = {}
    with explain_errors(file_name):
        ini, _ = load(file)
        for key, rows in sections.items():
            section, wanted = (str(key), rows) if isinstance(rows, Mapping) else ("", {key: rows})
            old = ini.options(section)
            done: dict[str, object] = {}
            for option, value in wanted.items():
                new = text_of(value)
                if old.get(str(option)) != new:
                    ini.set(section, str(option), new)
                    done[str(option)] = {"before": old.get(str(option)), "after": new}
            if done:
                changes.update({section: done} if section else done)
        if changes:
            save(file, ini)
    return changes


@function
def remove_option(
    ctx: Context,
    file_name: str,
    section: str,
    option: str,
    separator: str = "=",
    encoding: str | None = None,
) -> str | None:
    """Remove an option. Returns its old value, or None.

    Example:
        ```console
        $ saltern call ini.remove_option /etc/app.ini main host
        local:
            localhost
        ```
    """
    file = File(path=absolute(file_name), separator=separator, encoding=encoding)
    with explain_errors(file_name):
        ini, _ = load(file)
        old = ini.options(section or "").get(option)
        if old is not None:
            ini.remove(section or "", option)
            save(file, ini)
    return old


@function
def remove_section(
    ctx: Context, file_name: str, section: str, separator: str = "=", encoding: str | None = None
) -> dict[str, str]:
    """Remove a section. Returns its old options.

    Example:
        ```console
        $ saltern call ini.remove_section /etc/app.ini old
        local:
            ----------
            flag:
                1
        ```
    """
    file = File(path=absolute(file_name), separator=separator, encoding=encoding)
    if not os.path.exists(file.path):
        return {}
    with explain_errors(file_name):
        ini, _ = load(file)
        old = ini.options(section)
        if section in ini.sections():
            ini.remove_section(section)
            save(file, ini)
    return old
