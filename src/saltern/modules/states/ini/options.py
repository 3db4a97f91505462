"""``ini.options_present`` and ``ini.options_absent``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.ini.edit import Changes, File, edit_file, text_of
from saltern.modules.lib.ini.text import IniText


def _group_options(sections: Mapping[str, object] | None) -> dict[str, object]:
    """The options by section; options without a section belong to the unnamed one."""
    if not sections:
        raise Refused("'sections' is missing or empty; give {section: {option: value}}")
    grouped: dict[str, object] = {}
    loose = {str(key): value for key, value in sections.items() if not isinstance(value, Mapping)}
    if loose:
        grouped[""] = loose
    grouped |= {str(key): value for key, value in sections.items() if isinstance(value, Mapping)}
    return grouped


def _note(changes: Changes, section: str, option: str, before: str | None, after: str | None) -> None:
    if before != after:
        _within(changes, section)[option] = {"before": before, "after": after}


def _within(changes: Changes, section: str) -> Changes:
    inner = changes.setdefault(section, {}) if section else changes
    assert isinstance(inner, dict)
    return inner


@state
def options_present(
    ctx: Context,
    name: str,
    *,
    sections: dict[str, object] | None = None,
    separator: str = "=",
    strict: bool = False,
    encoding: str | None = None,
    no_spaces: bool = False,
) -> Result:
    """Make sure that options of an INI file have these values; create the file if it is missing.

    Args:
        name: the absolute path of the file.
        sections: ``{section: {option: value}}``; an option without a section is before the first section.
        separator: the separator of option and value.
        strict: remove all other options and sections: ``sections`` has everything that the file may have.
        encoding: the encoding of the file, if not UTF-8.
        no_spaces: write ``option=value`` instead of ``option = value``.

    Example:
        ```yaml
        /etc/app.ini:
          ini.options_present:
            - sections:
                main:
                  port: 8080
        ```
    """

    def change(ini: IniText) -> Changes:
        grouped = _group_options(sections)
        changes = _without_others(ini, grouped) if strict else {}
        for section, wanted in grouped.items():
            assert isinstance(wanted, Mapping)
            new = section and section not in ini.sections()
            present = ini.options(section)
            values = {str(option): text_of(value) for option, value in wanted.items()}
            for option in present.keys() - values.keys() if strict else ():
                ini.remove(section, option)
                _note(changes, section, option, present[option], None)
            for option, value in values.items():
                if present.get(option) != value:
                    ini.set(section, option, value)
                _note(changes, section, option, present.get(option), value)
            if new and not values:
                ini.add_section(section)
            if new:
                changes[section] = {"before": None, "after": values}
        return changes

    return edit_file(
        ctx, File(path=name, separator=separator, encoding=encoding, no_spaces=no_spaces), change
    )


def _without_others(ini: IniText, wanted: Mapping[str, object]) -> Changes:
    """Remove the sections that are not wanted, and without one of its own the options before the first."""
    changes: Changes = {}
    for option, value in ini.options("").items() if "" not in wanted else ():
        ini.remove("", option)
        _note(changes, "", option, value, None)
    for section in [one for one in ini.sections() if one not in wanted]:
        changes[section] = {"before": ini.options(section), "after": None}
        ini.remove_section(section)
    return changes


@state
def options_absent(
    ctx: Context,
    name: str,
    *,
    sections: dict[str, object] | None = None,
    separator: str = "=",
    encoding: str | None = None,
) -> Result:
    """Make sure that options are not in an INI file.

    Args:
        name: the absolute path of the file.
        sections: ``{section: [option, …]}``; an option without a section is before the first section.
        separator: the separator of option and value.
        encoding: the encoding of the file, if not UTF-8.

    Example:
        ```yaml
        /etc/app.ini:
          ini.options_absent:
            - sections:
                main:
                  - host
        ```
    """

    def change(ini: IniText) -> Changes:
        if not sections:
            raise Refused("'sections' is missing or empty; give {section: [option, …]}")
        changes: Changes = {}
        for key, listed in sections.items():
            section, options = ("", [key]) if listed is None else (str(key), _names(listed))
            present = ini.options(section)
            for option in options:
                if option in present:
                    ini.remove(section, option)
                    _within(changes, section)[option] = present[option]
        return changes

    return edit_file(ctx, File(path=name, separator=separator, encoding=encoding, create=False), change)


def _names(listed: object) -> list[str]:
    if isinstance(listed, str):
        return [listed]
    if isinstance(listed, Iterable):
        return [str(one) for one in listed]
    raise Refused(f"a section needs a list of options, not {listed!r}")
