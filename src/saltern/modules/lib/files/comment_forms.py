"""The two forms of a line: as it is, and commented out."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.diffs import lines_of
from saltern.modules.lib.files.patterns import compile_pattern


class Forms(Struct, frozen=True):
    """The two forms of the lines that a pattern matches. Group 1 is the indentation, 2 the text."""

    regex: str
    plain: re.Pattern[str]
    commented: re.Pattern[str]
    indented: re.Pattern[str]  # plain, with the white space that was after a comment sign

    @staticmethod
    def of(regex: str, char: str) -> Forms:
        compile_pattern(regex)
        core = (
            regex.removeprefix("^").removesuffix("$")
            if not regex.endswith(r"\$")
            else regex.removeprefix("^")
        )
        indent = "" if regex.startswith("^") else r"[ \t]*"
        rest = "" if core != regex.removeprefix("^") else ".*"
        said = rf"((?:{core}){rest})"
        return Forms(
            core,
            compile_pattern(rf"^(?![ \t]*{re.escape(char)})({indent}){said}$"),
            compile_pattern(rf"^([ \t]*){re.escape(char)}([ \t]*{said})$"),
            compile_pattern(rf"^([ \t]*){said}$"),
        )

    def change(
        self,
        wrong: re.Pattern[str],
        right: Callable[[re.Match[str]], str],
        done: re.Pattern[str],
        ignore_missing: bool,
    ) -> Callable[[str], str]:
        """Change every line of the ``wrong`` form to the ``right`` one."""

        def change(old: str) -> str:
            lines = [(line.rstrip("\r\n"), line) for line in lines_of(old)]
            found = [(body, line) for body, line in lines if wrong.match(body)]
            if not found and not ignore_missing and not any(done.match(body) for body, _ in lines):
                raise Refused(f"no line matches {self.regex!r}")
            return "".join(wrong.sub(right, body) + line[len(body) :] for body, line in lines)

        return change
