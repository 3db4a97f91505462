"""The code of our modules in one file: the same modules, found faster; and never one that is out of date."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from saltern.system import code_cache, code_file

# A small package with our name, in a process of its own.
START = """
import sys
from saltern.system.code_cache import Loader, install
cache = install("")
def kept(name):
    loader = sys.modules[name].__spec__.loader
    return type(loader) is Loader and loader not in cache.missing
"""
FACTS = """
import saltern.one, saltern.below.two as two, inspect
for module in (saltern.one, saltern.below, two):
    spec = module.__spec__
    print(module.__name__, module.__file__, module.__cached__, module.__package__, spec.origin, spec.parent)
    print(getattr(module, "__path__", None), spec.submodule_search_locations, spec.has_location, spec.cached)
    print(inspect.getsource(module) if module is saltern.one else "")
    print(spec.loader.get_code(module.__name__), spec.loader.is_package(module.__name__))
"""


class Package:
    def __init__(self, base: Path) -> None:
        self.base = base
        self.file = base / f"saltern/__pycache__/saltern.{sys.implementation.cache_tag}.code"
        for name in ("__init__", "system/__init__", "below/__init__"):
            self.write(f"{name}.py", "")
        for module in (code_cache, code_file):
            shutil.copy(str(module.__file__), base / "saltern/system")
        self.write("one.py", "def answer():\n    return 1\n")
        self.write("below/two.py", "from saltern.one import answer\n")

    def write(self, name: str, text: str) -> Path:
        path = self.base / "saltern" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run(self, program: str, *, save: bool = True, **env: str) -> str:
        text = START + program + (SAVE if save else "")
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(self.base)} | env
        argv = [sys.executable, "-c", text]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, env=env, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def package(tmp_path: Path) -> Package:
    return Package(tmp_path)


SAVE = """
if not cache.is_complete:
    from saltern.system.code_file import save
    save(cache)"""
GROUP = code_cache.LEAST + 2


@pytest.fixture
def many(package: Package) -> Package:
    """A module that imports enough others to be kept with them, and each of those the one before."""
    for at in range(GROUP):
        before = f"from saltern.many.m{at - 1} import total\n" if at else "total = 0\n"
        package.write(f"many/m{at}.py", before + "total += 1\n")
    package.write("many/__init__.py", "")
    package.write("all.py", "".join(f"from saltern.many.m{at} import total\n" for at in range(GROUP)))
    return package


TWO = "import saltern.below.two as two\nprint(two.answer(), kept('saltern.one'), kept('saltern.below.two'))"


def test_the_second_run_finds_there_what_the_first_has_imported(package: Package) -> None:
    assert package.run(TWO) == "1 False False\n"
    assert package.run(TWO) == "1 True True\n"


def test_a_module_is_the_same_wherever_its_code_comes_from(package: Package) -> None:
    first, second = (re.sub("0x[0-9a-f]+", "", package.run(FACTS)) for _ in range(2))
    assert "def answer" in first
    assert second == first
    assert package.run(TWO) == "1 True True\n"


def test_it_grows_with_what_later_runs_import(package: Package) -> None:
    assert package.run("import saltern.one\nprint(kept('saltern.one'))") == "False\n"
    assert package.run(TWO) == "1 True False\n"
    assert package.run(TWO) == "1 True True\n"


def test_nothing_is_written_when_nothing_is_new(package: Package) -> None:
    package.run(TWO)
    package.run(TWO)
    before = package.file.stat()
    package.run(TWO)
    assert package.file.stat().st_ino == before.st_ino


def test_a_source_that_was_changed_is_read_even_if_size_and_time_are_the_same(package: Package) -> None:
    package.run(TWO)
    source = package.base / "saltern/one.py"
    before = source.stat()
    source.write_text("def answer():\n    return 2\n")
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    for compiled in (package.base / "saltern/__pycache__").glob("one.*.pyc"):
        compiled.unlink()  # Python itself would not notice
    assert package.run(TWO) == "2 False True\n"
    assert package.run(TWO) == "2 True True\n"


def test_a_file_that_took_the_place_of_another_is_another_source(package: Package) -> None:
    package.run(TWO)
    new = package.write("new.py", "def answer():\n    return 3\n\n")
    os.replace(new, package.base / "saltern/one.py")
    assert package.run(TWO) == "3 False True\n"


def test_a_module_that_is_gone_is_gone(package: Package) -> None:
    package.run(TWO)
    (package.base / "saltern/one.py").unlink()
    missing = "try:\n    import saltern.one\nexcept ModuleNotFoundError as problem:\n    print(problem.name)"
    assert package.run(missing) == "saltern.one\n"


def test_a_package_that_was_moved_finds_its_modules_where_they_are(package: Package, tmp_path: Path) -> None:
    package.run(TWO)
    moved = tmp_path / "moved"
    moved.mkdir()
    os.rename(package.base / "saltern", moved / "saltern")
    package.base = moved
    program = "import saltern.one\nprint(saltern.one.__file__, saltern.one.answer.__code__.co_filename)"
    assert package.run(program) == f"{moved}/saltern/one.py {moved}/saltern/one.py\n"


def test_code_that_was_compiled_under_another_path_shows_its_own(package: Package) -> None:
    compileall = [sys.executable, "-m", "compileall", "-q", "saltern"]
    subprocess.run(compileall, cwd=package.base, check=True)
    program = "import saltern.one\nprint(saltern.one.answer.__code__.co_filename, kept('saltern.one'))"
    path = package.base / "saltern/one.py"
    assert package.run(program) == f"{path} False\n"
    assert package.run(program) == f"{path} True\n"


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"something else",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data[:10],
        lambda data: code_cache.KIND,
        lambda data: code_cache.KIND + bytes(8),
        lambda data: code_cache.KIND + b"\xff" * 16,
        lambda data: data[: code_cache.HEAD] + bytes(len(data) - code_cache.HEAD),
        lambda data: data[: len(code_cache.KIND) - 4] + bytes(4) + data[len(code_cache.KIND) :],
    ],
    ids=[
        "empty",
        "other",
        "half",
        "end",
        "head",
        "no length",
        "no index",
        "endless",
        "zeroes",
        "other Python",
    ],
)
def test_a_file_that_is_not_whole_or_not_ours_does_not_matter(package: Package, damage: object) -> None:
    assert callable(damage)
    package.run(TWO)
    package.file.write_bytes(damage(package.file.read_bytes()))
    assert package.run(TWO, save=False).startswith("1 ")
    package.run(TWO)
    assert package.run(TWO) == "1 True True\n"


def test_whoever_wants_no_compiled_files_has_none(package: Package) -> None:
    package.run(TWO, PYTHONDONTWRITEBYTECODE="1")
    assert not package.file.exists()


def test_where_compiled_files_are_kept_elsewhere_nothing_is_written_here(
    package: Package, tmp_path: Path
) -> None:
    program = f"assert cache is None\n{TWO}"
    assert (
        package.run(program, save=False, PYTHONPYCACHEPREFIX=str(tmp_path / "elsewhere")) == "1 False False\n"
    )
    assert not package.file.exists()


def test_a_place_that_cannot_be_written_is_left_as_it_is(package: Package) -> None:
    package.run(TWO, save=False)
    package.file.mkdir()
    assert package.run(TWO) == "1 False False\n"
    assert [entry.name for entry in package.file.parent.glob("saltern.*")] == [package.file.name]


def test_a_process_that_has_closed_the_file_reads_no_other_in_its_place(package: Package) -> None:
    package.run(TWO)
    other = package.base / "other"
    other.write_bytes(b"\0" * 100_000)
    program = f"""
import os
os.closerange(3, 100)
files = [os.open({str(other)!r}, os.O_RDONLY) for _ in range(20)]
{TWO}"""
    assert package.run(program) == "1 False False\n"


def test_a_process_that_has_closed_the_file_does_not_spoil_it(package: Package) -> None:
    package.run("import saltern.one")
    package.run("import os\nos.closerange(3, 100)\n" + TWO)
    package.run(TWO)
    assert package.run(TWO) == "1 True True\n"


def test_an_entry_without_code_is_filled_in(package: Package) -> None:
    package.run(TWO)
    program = """
from saltern.system.code_file import write
write(cache.path, {name: (b"", *one[2:]) for name, one in cache.index.items()}, {})"""
    package.run(program, save=False)
    assert package.run(TWO) == "1 False False\n"
    assert package.run(TWO) == "1 True True\n"


def test_code_that_python_would_not_use_is_not_kept(package: Package) -> None:
    """A compiled file of another time: its source was changed after it had been imported."""
    source = str(package.base / "saltern/one.py")
    package.run(f"import saltern.one, os\nos.utime({source!r}, (1, 1))")
    assert package.run(TWO).startswith("1 False ")


def test_a_module_of_another_place_is_not_kept(package: Package, tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    (away / "extra.py").write_text("")
    program = f"import saltern\nsaltern.__path__.append({str(away)!r})\n"
    program += "import saltern.extra\nprint(kept('saltern.extra'))"
    assert package.run(program) == package.run(program) == "False\n"


def test_what_killed_processes_were_to_put_there_is_removed(package: Package) -> None:
    package.file.parent.mkdir(exist_ok=True)
    gone, living, other = (
        package.file.with_name(f"{package.file.name}.{end}") for end in (4194304, os.getpid(), "bak")
    )
    for one in (gone, living, other):
        one.touch()
    package.run(TWO)
    assert package.file.exists()
    assert (gone.exists(), living.exists(), other.exists()) == (False, True, True)


ALL = """
before = len(sys.modules)
import saltern.all
print(saltern.all.total, kept("saltern.all"), kept("saltern.many.m0"), sorted(cache.groups))
"""
GROUPED = f"{GROUP} True True ['saltern.all']\n"


def test_a_module_that_imports_many_is_kept_with_them(many: Package) -> None:
    assert many.run(ALL) == f"{GROUP} False False []\n"
    before = many.file.stat()
    assert many.run(ALL) == GROUPED
    assert many.run(ALL) == GROUPED
    assert many.file.stat().st_ino == before.st_ino


def test_a_module_of_a_group_is_the_same_as_any(many: Package) -> None:
    facts = """
import saltern.all, saltern.many.m3 as module
spec = module.__spec__
other = ("__builtins__", "__spec__", "__loader__")
print([(name, value) for name, value in sorted(vars(module).items()) if name not in other])
print(spec.name, spec.origin, spec.cached, spec.parent, spec.has_location, spec.submodule_search_locations)
print(saltern.many.m3 is module, saltern.many.__path__, module.__loader__ is spec.loader)
print(spec.loader.get_code(module.__name__).co_filename)
"""
    first = many.run(facts)
    assert [many.run(facts) for _ in range(3)] == [first] * 3


def test_a_group_with_a_changed_source_is_made_anew(many: Package) -> None:
    many.run(ALL)
    many.write("many/m0.py", "total = 100\n")
    assert many.run(ALL) == f"{GROUP + 99} True False []\n"
    assert many.run(ALL) == f"{GROUP + 99} True True ['saltern.all']\n"


def test_a_module_of_a_group_that_fails_is_asked_for_in_its_own_place(many: Package) -> None:
    """What it depends on may be another one in the next process; what catches its error still does."""
    many.write("many/m2.py", "import os\nif os.environ.get('BAD'): raise ImportError('bad')\ntotal = 3\n")
    many.write(
        "all.py", "try:\n    import saltern.many.m5\nexcept ImportError as problem:\n    print(problem)\n"
    )
    program = "import saltern.all\nprint('saltern.many.m2' in sys.modules, 'saltern.many.m5' in sys.modules)"
    for _ in range(3):
        assert many.run(program) == "True True\n"
    assert many.run(program, BAD="1") == "bad\nFalse False\n"
    assert many.run(program) == "True True\n"


def test_other_threads_do_not_see_half_of_a_group(many: Package) -> None:
    for _ in range(3):
        many.run(ALL)
    program = """
import threading
going = threading.Event()
other = threading.Thread(target=going.wait)
other.start()
cache._execute_group = None
import saltern.all
going.set()
other.join()
print(saltern.all.total)"""
    assert many.run(program) == f"{GROUP}\n"


def test_a_group_that_is_damaged_is_not_used(many: Package) -> None:
    for _ in range(3):
        many.run(ALL)
    program = """
from saltern.system.code_file import write
known = {name: (cache.code(*one[:2]), *one[2:]) for name, one in cache.index.items()}
write(cache.path, known, {"saltern.all": b"nonsense"})"""
    many.run(program, save=False)
    assert many.run(ALL) == f"{GROUP} True True []\n"
    assert many.run(ALL) == GROUPED


def test_groups_stay_when_later_runs_import_more(many: Package) -> None:
    many.run(ALL)
    many.run("import saltern.one")
    assert many.run(ALL) == GROUPED


def test_each_command_has_a_file_of_its_own(many: Package) -> None:
    """A word that is no command has the one of all others, and so has one that leads elsewhere."""
    many.write("cli/apply.py", "")
    again = "sys.meta_path.remove(cache)\ncache = install({!r})\nprint(cache.path)\n" + ALL
    folder, name = many.file.parent, many.file.name.removesuffix("code")
    for word, own in {"apply": "apply.code", "appyl": "code", "../cli/apply": "code", "": "code"}.items():
        assert many.run(again.format(word)).startswith(f"{folder}/{name}{own}\n")
    assert many.run(again.format("apply")).endswith(GROUPED)
    assert sorted(one.name for one in folder.glob("*.code")) == [f"{name}apply.code", f"{name}code"]


ASKED = """
import saltern.all, saltern.many.m3, saltern.answers
print(hasattr(saltern.many.m3, "nothing"), saltern.answers.anything, type(saltern.answers).__name__)
"""


def test_a_module_may_answer_for_names_that_it_does_not_have(many: Package) -> None:
    """As a module that was imported as ever, and as one of a group."""
    many.write("answers.py", "def __getattr__(name):\n    return name.upper()\n")
    all_of_them = (many.base / "saltern/all.py").read_text()
    for text in (all_of_them, all_of_them + "import saltern.answers\n"):
        many.write("all.py", text)
        for _ in range(2):
            assert many.run(ASKED) == "False ANYTHING module\n"
