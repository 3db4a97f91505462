from __future__ import annotations

import os
from pathlib import Path

from saltern.compat.index import index

FILES = {
    "aptpkg.py": '__virtualname__ = "pkg"\n',
    "pkg.py": "x = 1\n",
    "upstart.py": 'def __virtual__():\n    if x:\n        return "service"\n    return False\n\n\n'
    'def f():\n    return "no"\n',
    "x.py": '__virtual_aliases__ = ("y", "z")\n',
    "package/__init__.py": "",
    "__init__.py": "",
    "notes.txt": "",
}


def _filled(place: Path) -> str:
    for name, text in FILES.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text)
    return str(place)


def test_files_are_known_by_their_own_and_their_virtual_names(tmp_path: Path) -> None:
    found = index(_filled(tmp_path))
    names = {name: [os.path.relpath(path, tmp_path) for path in paths] for name, paths in found.items()}
    assert names == {
        "aptpkg": ["aptpkg.py"],
        "package": ["package/__init__.py"],
        "pkg": ["pkg.py", "aptpkg.py"],
        "service": ["upstart.py"],
        "upstart": ["upstart.py"],
        "x": ["x.py"],
        "y": ["x.py"],
        "z": ["x.py"],
    }


def test_the_answer_is_kept_until_a_file_comes_or_goes(tmp_path: Path) -> None:
    (tmp_path / "modules").mkdir()
    place, cache = _filled(tmp_path / "modules"), str(tmp_path / "cache")
    first = index(place, cache)
    (kept,) = os.listdir(cache)
    (tmp_path / "cache" / kept).write_text('{"from": ["cache"]}')
    assert index(place, cache) == {"from": ["cache"]}
    (tmp_path / "modules" / "more.py").write_text("")
    assert index(place, cache).keys() == first.keys() | {"more"}


def test_a_cache_that_cannot_be_read_or_written_does_not_matter(tmp_path: Path) -> None:
    place = _filled(tmp_path)
    assert index(place, "/dev/null/nowhere") == index(place)
    assert index(str(tmp_path / "nowhere")) == {}
