"""The formulas of this directory and the cases they are compiled in; knows neither Salt nor saltern."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

HERE = Path(__file__).parent
EXPECTED = HERE / "expected"
SITE = "site"  # all formulas in one tree, by its top file


class Case(Struct, frozen=True):
    """One compilation. Without ``sls`` it is the highstate; ``pillar`` is a file of the formula."""

    formula: str
    grains: str
    sls: tuple[str, ...] = ()
    pillar: str = "pillar.example"

    @property
    def key(self) -> str:
        more = "" if self.pillar == "pillar.example" else f" {self.pillar}"
        return f"{self.grains} {','.join(self.sls) or 'highstate'}{more}"

    def file_roots(self) -> list[str]:
        return [str(HERE / f"{self.formula}-formula")] if self.formula != SITE else _every_root()

    def known_grains(self) -> dict[str, Any]:
        return _read(HERE / "grains" / f"{self.grains}.yaml")

    def write_pillar(self, place: Path) -> None:
        """A pillar root: a top file that gives every machine the file, or the examples of all formulas."""
        place.mkdir(parents=True)
        if self.pillar == "none":
            return
        names = formulas() if self.formula == SITE else [self.formula]
        for name in names:
            shutil.copy(HERE / f"{name}-formula" / self.pillar, place / f"{name}.sls")
        (place / "top.sls").write_text(yaml.safe_dump({"base": {"*": names}}), encoding="utf-8")


def formulas() -> list[str]:
    return sorted(path.name.removesuffix("-formula") for path in HERE.glob("*-formula"))


def cases() -> Iterator[Case]:
    for formula, rows in _read(HERE / "cases.yaml").items():
        for row in rows:
            more = {"pillar": row["pillar"]} if "pillar" in row else {}
            for grains in row["grains"]:
                yield Case(formula, grains, tuple(row.get("sls", ())), **more)


def _every_root() -> list[str]:
    return [str(HERE / SITE), *(str(HERE / f"{name}-formula") for name in formulas())]


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found
