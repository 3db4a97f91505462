from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from saltern.compat.adapt import schema_of
from saltern.compat.places import directories, present
from saltern.config.settings import Settings


def test_nothing_of_it_is_imported_by_a_session() -> None:
    script = (
        "import sys, saltern.engine.session; "
        "print([m for m in sys.modules if m.startswith('saltern.compat.li')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_directories_are_those_that_exist_strongest_first(tmp_path: Path) -> None:
    for place in ("a/_states", "dev/_states", "ext/states", "more/_states", "more/_grains"):
        (tmp_path / place).mkdir(parents=True)
    settings = Settings(
        file_roots={"base": [str(tmp_path / "a"), str(tmp_path / "b")], "dev": [str(tmp_path / "dev")]},
        saltenv="dev",
        extension_modules=str(tmp_path / "ext"),
        module_dirs=[str(tmp_path / "more")],
    )
    found = [str(Path(place).relative_to(tmp_path)) for place in directories(settings, "states")]
    assert found == ["dev/_states", "a/_states", "ext/states", "more/_states"]
    assert present(settings) >= {"states", "grains"}
    assert present(Settings(file_roots={"base": [str(tmp_path / "none")]})) == frozenset()


def test_a_signature_is_a_schema() -> None:
    def present(
        name: str, needed: int, other: int = 1, *args: int, runas: str = "", **kwargs: int
    ) -> None: ...

    schema, takes_name = schema_of(present)
    assert takes_name and schema.open
    assert list(schema.params) == ["needed", "other", "runas"]
    assert schema.required == ("needed",)
    assert schema_of(lambda x: x)[1] is False
