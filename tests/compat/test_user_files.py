"""Which of a user's files answers to a name, which of its functions are there, and what is told otherwise."""

from __future__ import annotations

import pytest
from tests.compat.conftest import MakeWorld
from tests.kit import run_sls

from saltern.modules.api.unknown_names import unknown_function

# a file for "shelf": what __virtual__ says, and what the function tells
SHELF = "__virtualname__ = 'shelf'\ndef __virtual__():\n    return {}\ndef who():\n    return {!r}\n"


def test_of_files_with_one_virtual_name_the_first_that_accepts_is_taken(world: MakeWorld) -> None:
    one = world(
        {
            "_modules/a_shelf.py": SHELF.format("(False, 'not on this machine')", "a"),
            "_modules/b_shelf.py": SHELF.format("__virtualname__", "b"),
            "_modules/c_shelf.py": SHELF.format("__virtualname__", "c") + "def more():\n    pass\n",
        }
    )
    assert one.call("shelf.who") == "b"
    assert one.session.salt.get("shelf.more") is None, "functions of several files are not put together"
    assert one.session.salt.get("c_shelf.who") is None


def test_a_file_of_the_name_itself_comes_before_those_that_only_claim_it(world: MakeWorld) -> None:
    files = {
        "_modules/a_shelf.py": SHELF.format("__virtualname__", "a"),
        "_modules/shelf.py": "def who():\n    return 'shelf'\n",
    }
    assert world(files).call("shelf.who") == "shelf"


def test_if_all_refuse_their_reasons_are_reported(world: MakeWorld) -> None:
    one = world(
        {
            "_modules/a_shelf.py": SHELF.format("(False, 'no bracket')", "a"),
            "_modules/b_shelf.py": SHELF.format("(False, 'no board')", "b"),
        }
    )
    assert one.session.salt.get("shelf.who") is None
    told = unknown_function(one.registry, "shelf.who")
    assert "no bracket" in told and "no board" in told


def test_the_configuration_chooses_among_several(world: MakeWorld) -> None:
    files = {f"_modules/{one}_shelf.py": SHELF.format("__virtualname__", one) for one in "ab"}
    assert world(files, extra={"providers": {"shelf": "b_shelf"}}).call("shelf.who") == "b"


DEPENDS = """
import salt.utils.decorators as decorators
from salt.utils.decorators import depends
from salt.utils.decorators.path import which, which_bin

try:
    import saltern_t_no_such_library as lib
    HAS_LIB = True
except ImportError:
    HAS_LIB = False

def _instead():
    return "instead"

@depends("lib")
def by_name():
    return 1

@depends(HAS_LIB, fallback_function=_instead)
def by_flag():
    return 1

@decorators.depends("depends")
def there():
    return "there"

@depends("false", retcode=0)
def by_command():
    return 1

@depends("false", nonzero_retcode=True)
def by_failing_command():
    return "failed, as wanted"

@which("saltern-t-no-such-program")
def by_program():
    return 1

@which_bin(["saltern-t-no-such-program", "sh"])
def by_one_of_two():
    return "sh"

@decorators.memoize
def once(x):
    return [x]

@decorators.require_one_of("a", "b")
def one_of(a=None, b=None):
    return a or b

@decorators.ignores_kwargs("c")
def without(**kwargs):
    return sorted(kwargs)
"""


@pytest.mark.parametrize(
    ("fun", "told"),
    [
        ("there", "there"),
        ("by_flag", "instead"),
        ("by_failing_command", "failed, as wanted"),
        ("by_one_of_two", "sh"),
    ],
)
def test_what_a_function_depends_on_is_there(world: MakeWorld, fun: str, told: str) -> None:
    assert world({"_modules/needs.py": DEPENDS}).call(f"needs.{fun}") == told


def test_what_a_function_depends_on_is_missing(world: MakeWorld) -> None:
    one = world({"_modules/needs.py": DEPENDS})
    assert one.session.salt.get("needs.by_name") is None
    assert one.session.salt.get("needs.by_command") is None
    with pytest.raises(Exception, match="none of saltern-t-no-such-program was found"):
        one.call("needs.by_program")


def test_other_decorators_do_what_they_say(world: MakeWorld) -> None:
    one = world({"_modules/needs.py": DEPENDS})
    assert one.call("needs.once", 1) is one.call("needs.once", 1)
    assert one.call("needs.one_of", b=2) == 2
    assert one.call("needs.without", c=1, d=2) == ["d"]
    with pytest.raises(Exception, match="exactly one of a, b must be given"):
        one.call("needs.one_of", 1, 2)


def test_problems_of_grains_are_warnings_that_name_the_file_and_the_run_goes_on() -> None:
    files = {
        "_grains/good.py": "def colour():\n    return {'colour': 'red'}\n",
        "_grains/raising.py": "def f():\n    raise OSError('no sensor')\n",
        "_grains/odd.py": "def f():\n    return ['list']\n",
        "_grains/syntax.py": "def f(:\n",
        "_grains/library.py": "import saltern_t_no_such_library\ndef f():\n    return {}\n",
        "_grains/virtual.py": "def __virtual__():\n    return 1 / 0\ndef f():\n    return {}\n",
        "_grains/refusing.py": "def __virtual__():\n    return False\ndef f():\n    return 1 / 0\n",
        "main.sls": "a:\n  test.show_notification:\n    - text: {{ grains['colour'] }}\n",
    }
    report = run_sls(files)
    assert report.answers[0].result.comment == "red"
    told = sorted(warning.what for warning in report.warnings if warning.code == "grain-failed")
    assert [one.rpartition("/_grains/")[2] for one in told] == [
        "library.py cannot be loaded: ModuleNotFoundError: No module named 'saltern_t_no_such_library'",
        "odd.py: f gave list, not a dictionary",
        "raising.py: f failed: OSError: no sensor",
        "syntax.py:1: not Python: invalid syntax",
        "virtual.py: __virtual__ failed: ZeroDivisionError: division by zero",
    ]
