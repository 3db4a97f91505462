"""Reads YAML text strictly: every mistake is recorded with its line, and reading continues."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from msgspec import Struct, ValidationError, convert

from saltern.language.diagnostics import Diagnostics, did_you_mean
from saltern.language.source import Mark, Path
from saltern.render.yaml_limits import YamlProblem

S = TypeVar("S", bound=Struct)


class Page:
    """``code`` is the code of its mistakes."""

    def __init__(self, text: str, file: str, code: str, found: Diagnostics) -> None:
        self.text, self.file, self.code, self.found = text, file, code, found

    def mark(self, path: Path) -> Mark:
        from saltern.render.yaml_places import locate

        return Mark(self.file, *locate(self.text, path))

    def wrong(self, what: str, path: Path, fix: str = "") -> None:
        self.found.error(self.code, what, where=self.mark(path), fix=fix)

    def data(self, what: str, keys: tuple[str, ...]) -> Mapping[object, object]:
        """The whole text as a mapping with these keys."""
        from saltern.render.yaml import read

        try:
            data = self.mapping(read(self.text), (), what, f"its keys are {', '.join(keys)}")
        except YamlProblem as problem:
            where = Mark(self.file, problem.line, problem.column)
            self.found.error(problem.code, problem.what, where=where, fix=problem.fix)
            return {}
        self.check_keys(data, keys, (), what)
        return data

    def mapping(self, data: object, path: Path, what: str, fix: str = "") -> Mapping[object, object]:
        """The value if it is a mapping; else report it and return an empty one."""
        if data is None or isinstance(data, Mapping):
            return data or {}
        self.wrong(f"{what} must be a mapping", path, fix)
        return {}

    def check_keys(
        self, data: Mapping[object, object], known: tuple[str, ...], path: Path, what: str
    ) -> None:
        for key in data:
            if key not in known:
                hint = did_you_mean(str(key), known) or f"there are {', '.join(known)}"
                self.wrong(f"{what} has no key {str(key)!r}", (*path, key), hint)

    def texts(self, value: object, path: Path) -> tuple[str, ...]:
        """One text, or a list of texts."""
        several = value if isinstance(value, list) else [value]
        texts = tuple(one for one in several if isinstance(one, str) and one.strip())
        if len(texts) != len(several) or not texts:
            self.wrong(f"'{path[-1]}' must be a text or a list of texts", path, "put it in quotes")
        return texts

    def convert_value(self, value: object, shape: type[S], path: Path) -> S | None:
        try:
            return convert(value, shape)
        except ValidationError as problem:
            what, _, way = str(problem).partition(" - at `")
            steps = (*path, *re.findall(r"\.([A-Za-z_]\w*)", way))
            unknown = re.fullmatch(r"Object contains unknown field `(.*)`", what)
            what = f"no key is called {unknown[1]!r} here" if unknown else what[:1].lower() + what[1:]
            self.wrong(what, (*steps, *([unknown[1]] if unknown else [])))
            return None
