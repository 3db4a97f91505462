"""``file.keyvalue``: lines of the form ``key=value``."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.diffs import lines_of
from saltern.modules.lib.files.edit import Edit, edit
from saltern.modules.lib.files.facts import absolute
from saltern.system import files


@state(name_is="path")
def keyvalue(
    ctx: Context,
    name: str,
    *,
    key: str | None = None,
    value: object = None,
    key_values: dict[str, object] | None = None,
    separator: str = "=",
    append_if_not_found: bool = False,
    prepend_if_not_found: bool = False,
    search_only: bool = False,
    show_changes: bool = True,
    ignore_if_missing: bool = False,
    count: int = 1,
    uncomment: str | None = None,
    key_ignore_case: bool = False,
    value_ignore_case: bool = False,
    create_if_missing: bool = False,
    prune: bool = False,
) -> Result:
    """Manage lines of the form ``key=value``.

    Args:
        name: the absolute path of the file.
        key, value: one pair.
        key_values: several pairs, instead of ``key`` and ``value``.
        separator: the exact text between key and value.
        append_if_not_found, prepend_if_not_found: add a line for a missing key.
        search_only: change nothing; succeed if all pairs exist already.
        show_changes: False leaves the difference out of the result.
        ignore_if_missing: succeed if the file is missing.
        count: the maximum number of lines per key; further ones are removed, with 0 all of them. -1 allows
            any number.
        uncomment: comment characters to remove from a line if its key is only there commented out.
        key_ignore_case, value_ignore_case: ignore case when comparing.
        create_if_missing: create the file with the pairs if it is missing.
        prune: remove all other lines.

    Example:
        ```yaml
        /etc/app.conf:
          file.keyvalue:
            - key_values:
                port: 8080
                debug: 'no'
            - separator: ' = '
            - uncomment: '# '
            - append_if_not_found: true
        ```
    """
    ctx.facts = {"path": name}
    pairs = _pairs(key, value, key_values)
    creates = create_if_missing and count != 0
    new = creates and files.look(absolute(name), follow=True) is None
    rules = EditOptions(
        pairs=pairs,
        separator=separator,
        count=count,
        comment=uncomment or "",
        fold_key=key_ignore_case,
        fold_value=value_ignore_case,
        prune=prune,
        put="append" if append_if_not_found or new else "prepend" if prepend_if_not_found else "",
    )
    if not separator:
        raise Refused("separator must not be empty")
    how = Edit(
        path=name,
        show_changes=show_changes,
        create=creates,
        ignore_missing=(ignore_if_missing or create_if_missing) and not creates,
    )
    if search_only:
        return _search_result(edit(_test_context(ctx), how, rules.change))
    return edit(ctx, how, rules.change)


def _test_context(ctx: Context) -> Context:
    return Context(ctx.run, test=True, env=ctx.env, chunk=ctx.chunk, runas=ctx.runas)


def _search_result(result: Result) -> Result:
    if result.outcome is Outcome.OK:
        return result
    return Result(
        outcome=Outcome.FAILED, comment="some of the pairs are missing (search_only)", data=result.data
    )


def _pairs(key: str | None, value: object, key_values: Mapping[str, object] | None) -> dict[str, str]:
    if key_values and (key is not None or value is not None):
        raise Refused("give either key and value, or key_values")
    pairs: Mapping[str, object] = key_values or (
        {key: value} if key is not None and value is not None else {}
    )
    if not pairs:
        raise Refused("give key and value, or key_values")
    return {str(word): str(meant) for word, meant in pairs.items()}


class Found(Struct, frozen=True):
    """A line that contains one of the keys."""

    at: int
    key: str
    written: str  # the key as written in the file, with its indentation
    value: str
    commented: bool


class EditOptions(Struct, frozen=True, kw_only=True):
    pairs: dict[str, str]
    separator: str
    count: int
    comment: str
    fold_key: bool
    fold_value: bool
    prune: bool
    put: str

    def change(self, old: str) -> str:
        lines = lines_of(old)
        found = [hit for at, text in enumerate(lines) if (hit := self._find(at, text.rstrip("\r\n")))]
        kept: dict[int, str | None] = {}
        for key in self.pairs:
            self._settle([hit for hit in found if hit.key == key], lines, kept)
        result = [
            text
            for at, line in enumerate(lines)
            if (text := kept.get(at, None if self.prune else line)) is not None
        ]
        missing = [key for key in self.pairs if self.count and all(hit.key != key for hit in found)]
        return self._add_missing(result, missing)

    def _find(self, at: int, line: str) -> Found | None:
        """The key of a line, in use or commented out."""
        bare = line.lstrip()
        for commented in (False, True):
            body = bare.lstrip(self.comment + " \t") if commented else bare
            if commented and (not self.comment or body == bare):
                return None
            word, separator, value = body.partition(self.separator)
            key = self._known_key(word)
            if separator and key is not None:
                indent = line[: len(line) - len(bare)]
                return Found(at, key, indent + word, value, commented)
        return None

    def _known_key(self, word: str) -> str | None:
        if word in self.pairs:
            return word
        if not self.fold_key:
            return None
        return next((key for key in self.pairs if key.lower() == word.lower()), None)

    def _settle(self, hits: list[Found], lines: list[str], kept: dict[int, str | None]) -> None:
        """Set the lines of one key, at most ``count``; a commented one only if none is in use."""
        used = [hit for hit in hits if not hit.commented]
        chosen = used or (hits[:1] if self.count else [])
        for number, hit in enumerate(chosen):
            surplus = 0 <= self.count <= number
            kept[hit.at] = None if surplus else self._line(hit, lines[hit.at])
        for hit in hits:
            kept.setdefault(hit.at, lines[hit.at])

    def _line(self, hit: Found, line: str) -> str:
        wanted = self.pairs[hit.key]
        value = hit.value.strip()
        same = value.lower() == wanted.lower() if self.fold_value else value == wanted.strip()
        if same and not hit.commented:
            return line
        ending = line[len(line.rstrip("\r\n")) :]
        return f"{hit.written}{self.separator}{wanted}{ending}"

    def _add_missing(self, lines: list[str], missing: list[str]) -> str:
        new = [f"{key}{self.separator}{self.pairs[key]}\n" for key in missing] if self.put else []
        if self.put == "prepend":
            return "".join([*reversed(new), *lines])  # one after the other at the top, as in Salt
        if new and lines and not lines[-1].endswith("\n"):
            lines = [*lines[:-1], f"{lines[-1]}\n"]
        return "".join([*lines, *new])
