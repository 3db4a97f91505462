"""``ini.sections_present`` and ``ini.sections_absent``."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.ini.edit import Changes, File, edit_file
from saltern.modules.lib.ini.text import IniText


def _names(sections: object) -> list[str]:
    given = [sections] if isinstance(sections, str) else sections
    if not isinstance(given, list | Mapping) or not given:
        raise Refused("'sections' is missing or empty; give a list of names")
    return [str(next(iter(one))) if isinstance(one, Mapping) and one else str(one) for one in given]


@state
def sections_present(
    ctx: Context,
    name: str,
    *,
    sections: object = None,
    separator: str = "=",
    encoding: str | None = None,
) -> Result:
    """Make sure that sections are in an INI file, even if empty; create the file if it is missing.

    Args:
        name: the absolute path of the file.
        sections: a list of names.
        separator: the separator of option and value.
        encoding: the encoding of the file, if not UTF-8.

    Example:
        ```yaml
        /etc/app.ini:
          ini.sections_present:
            - sections:
              - users
        ```
    """

    def change(ini: IniText) -> Changes:
        missing = [section for section in _names(sections) if section not in ini.sections()]
        for section in missing:
            ini.add_section(section)
        return {section: {"before": None, "after": {}} for section in missing}

    return edit_file(ctx, File(path=name, separator=separator, encoding=encoding), change)


@state
def sections_absent(
    ctx: Context,
    name: str,
    *,
    sections: object = None,
    separator: str = "=",
    encoding: str | None = None,
) -> Result:
    """Make sure that sections, with all their options, are not in an INI file.

    Args:
        name: the absolute path of the file.
        sections: a list of names.
        separator: the separator of option and value.
        encoding: the encoding of the file, if not UTF-8.

    Example:
        ```yaml
        /etc/app.ini:
          ini.sections_absent:
            - sections:
              - old
        ```
    """

    def change(ini: IniText) -> Changes:
        there = [section for section in _names(sections) if section in ini.sections()]
        changes: Changes = {section: ini.options(section) for section in there}
        for section in there:
            ini.remove_section(section)
        return changes

    return edit_file(ctx, File(path=name, separator=separator, encoding=encoding, create=False), change)
