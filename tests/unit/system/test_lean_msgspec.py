"""A program that has imported msgspec without its rarely used parts still has all of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

START = (
    "import sys\nfrom saltern.system.lean_msgspec import import_msgspec\nimport_msgspec()\nimport msgspec\n"
)
POINT = "class Point(msgspec.Struct):\n    x: int\n    y: float = 0.5\n"
# What a user's module may do, as a program that prints what it found.
USES = {
    "inspect": "import msgspec.inspect\nprint(msgspec.inspect.type_info(Point))",
    "inspect as an attribute": "print(msgspec.inspect.type_info(Point))",
    "inspect from": "from msgspec import inspect\nprint(inspect.type_info(Point))",
    "schema": "print(msgspec.json.schema(Point))",
    "schema from": "from msgspec.json import schema\nprint(schema(Point))",
    "components": "print(msgspec.json.schema_components([Point], ref_template='#/{name}'))",
    "toml": "print(msgspec.toml.decode('a = 1'))",
    "yaml": "from msgspec import yaml\nprint(yaml.decode('a: 1', type=dict[str, int]), yaml.encode([1]))",
    "structs": "print(msgspec.structs.asdict(Point(1)), msgspec.structs.fields(Point))",
    "version": "print(msgspec.__version__)",
    "codec": "print(msgspec.msgpack.decode(msgspec.msgpack.encode(Point(2)), type=Point))",
    "uuid": "import uuid, platform\nprint(uuid.UUID(int=7), len(str(uuid.uuid1())), platform.machine())\n"
    "print(msgspec.json.encode(uuid.UUID(int=7)), msgspec.convert(str(uuid.UUID(int=8)), uuid.UUID))",
    "dates": "import datetime, pickle\nnow = datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc)\n"
    "print(msgspec.json.encode(now), msgspec.convert('2026-01-02', datetime.date), datetime.UTC)\n"
    "print(pickle.loads(pickle.dumps(now)) == now, datetime.__file__, datetime.datetime.__module__)",
    "decimals": "import decimal, numbers\nprint(msgspec.json.encode(decimal.Decimal('1.50')))\n"
    "print(decimal.__file__)\n"
    "print(msgspec.convert('2.5', decimal.Decimal), isinstance(decimal.Decimal(1), numbers.Number))",
    "forward references": "import typing\nprint(repr(typing.ForwardRef('int', is_class=True)))\n"
    "class Node(msgspec.Struct):\n    next: 'Node | None' = None\n"
    "print(msgspec.convert({'next': {}}, Node))",
    "patterns": "import re, typing\nprint(typing.Pattern, typing.Match[str])\n"
    "print(typing.get_origin(typing.Match[str]))\n"
    "print(isinstance(re.compile('a'), typing.Pattern), isinstance(re.match('a', 'a'), typing.Match))\n"
    "class Word(msgspec.Struct):\n    text: typing.Annotated[str, msgspec.Meta(pattern='^[a-z]+$')]\n"
    "print(msgspec.convert({'text': 'a'}, Word), re.Match, re.__name__, re.__spec__.name)\n"
    "try:\n    msgspec.convert({'text': '1'}, Word)\nexcept msgspec.ValidationError as problem:\n"
    "    print(problem)",
    "unknown": "try:\n    msgspec.nothing\nexcept AttributeError as problem:\n    print(problem)",
    "typing_extensions": "import typing_extensions\nprint(typing_extensions.TypedDict)",
}  # fmt: skip
RARE = (
    "msgspec.inspect", "msgspec._json_schema", "msgspec.toml", "msgspec.yaml", "textwrap", "platform",
    "datetime", "decimal", "ast", "re",
)  # fmt: skip


def run(program: str) -> str:
    env = {"PATH": os.environ["PATH"], "PYTHONHASHSEED": "0"}
    argv = [sys.executable, "-c", program]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, env=env, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("use", USES)
def test_all_of_it_is_there_when_it_is_asked_for(use: str) -> None:
    assert run(START + POINT + USES[use]) == run("import msgspec\n" + POINT + USES[use])


def test_what_is_not_asked_for_is_not_imported() -> None:
    assert run(START + f"print([name for name in {RARE} if name in sys.modules])") == "[]\n"


def test_nothing_is_left_of_what_stood_in() -> None:
    program = """
import uuid
print(hasattr(uuid, "platform"), [name for name in ("inspect", "toml", "yaml") if name in vars(msgspec)])
print([name for name, module in sys.modules.items() if module is None or not module.__name__])
"""
    assert run(START + program) == "False []\n[]\n"


def test_one_that_was_imported_before_is_left_as_it_is() -> None:
    program = "import msgspec\nbefore = dict(vars(msgspec))\n" + START + "print(vars(msgspec) == before)"
    assert run(program) == "True\n"


def test_modules_that_were_imported_before_stay() -> None:
    program = "import platform, textwrap, typing_extensions, sys\nold = dict(sys.modules)\n" + START
    assert (
        run(program + "print(all(sys.modules[name] is module for name, module in old.items()))") == "True\n"
    )


# Versions of msgspec that there are not: what they have, who uses them how, and what comes of it.
OTHERS = {
    "all at once": ("from .inspect import found", "print(msgspec.found)", "all of it\n"),
    "late itself": (
        "def __getattr__(name):\n    return name.upper()",
        "print(msgspec.other, msgspec.inspect.found)",
        "OTHER all of it\n",
    ),
    "fewer modules": ("inspect = 'mine'", "print(msgspec.inspect)", "mine\n"),
    "another way": ("from . import inspect\nfound = inspect.found", "print(msgspec.found)", "all of it\n"),
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_version_that_is_made_otherwise_is_as_it_is(tmp_path: Path, other: str) -> None:
    text, use, seen = OTHERS[other]
    package = tmp_path / "msgspec"
    package.mkdir()
    (package / "__init__.py").write_text(text)
    (package / "inspect.py").write_text("found = 'all of it'")
    path = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n"
    assert run(path + START + use) == seen
