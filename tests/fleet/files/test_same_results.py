"""Random trees, compiled and applied where they lie and from an agent's copy: the results are the same."""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import stat
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fleet.files.test_publish import Site
from tests.fleet.harness import run

from saltern.config.settings import Settings
from saltern.engine.apply import apply
from saltern.engine.nested_engine import make_session
from saltern.engine.request import Request
from saltern.fleet.files.agent import AgentFiles
from saltern.fleet.files.options import tree_options
from saltern.fleet.files.worker import answer_file
from saltern.language.diagnostics import SalternError

NAMES = ("a", "b", "web/init", "web/x")
SAY = "{i}:\n  test.show_notification:\n    - text: {{{{ (%s) | string | json }}}}\n"
MANAGED = "{i}:\n  file.managed:\n    - name: OUT/{n}\n    - makedirs: true\n    - source: "
RECURSE = "{i}:\n  file.recurse:\n    - name: OUT/d{n}\n    - source: "
STATES = (
    MANAGED + "salt://web/files/{f}\n    - mode: keep\n",
    MANAGED + "['salt://none', 'salt://{f}', 'salt://data?saltenv=dev']\n",
    MANAGED + "salt://{f}\n    - template: jinja\n",
    RECURSE + "salt://web\n    - keep_symlinks: {k}\n    - file_mode: keep\n    - include_empty: true\n",
    RECURSE + "salt://web/files\n    - exclude_pat: '*.bin'\n",
    SAY % "salt['cp.list_master']()",
    SAY % "salt['cp.list_master_symlinks']()",
    SAY % "salt['cp.list_master_dirs']('dev')",
    SAY % "salt['cp.hash_file']('salt://web/files/{f}')",
    SAY % "salt['cp.get_file_str']('salt://{f}')",
    SAY % "salt['cp.stat_file']('salt://{f}')",
    SAY % "salt['cp.envs']()",
    SAY % "[salt['slsutil.file_exists']('web/files/{f}'), saltenv, tpldir]",
    SAY % "salt['own.word']()",
    "{{% from 'map.jinja' import word with context %}}\n" + SAY % "word",
    "{{% set found %}}{{% include 'web/files/{f}' ignore missing %}}{{% endset %}}\n" + SAY % "found",
    "include: [{s}]\n",
)
FILES = ("one", "two", "big.bin", "script.sh")
parts = st.tuples(st.sampled_from(STATES), st.sampled_from(FILES), st.sampled_from(NAMES), st.booleans())
some = st.lists(parts, min_size=1, max_size=3)
sls = st.dictionaries(st.sampled_from(NAMES), some, max_size=3)
whole = st.fixed_dictionaries(dict.fromkeys(NAMES, some))
extras = st.lists(
    st.tuples(
        st.sampled_from(("file", "link", "dir")),
        st.sampled_from(
            ("web/files/one", "web/files/two", "two", "one", "web/files/sub", "web/files/big.bin")
        ),
        st.sampled_from(("../x.txt", "one", "big.bin", "/etc/hostname", "files", "nothing")),
    ),
    max_size=5,
)
layer, first = st.tuples(sls, extras), st.tuples(whole, extras)


def write(root: Path, layer: tuple[dict[str, Any], list[Any]], out: Path) -> None:
    states, more = layer
    (root / "web" / "files").mkdir(parents=True)
    for name, found in states.items():
        texts = [
            text.format(
                i=f"{root.name}-{name}-{number}",
                n=f"{root.name}{name}{number}".replace("/", "-"),
                f=file,
                s=other.replace("/init", "").replace("/", "."),
                k=keep,
            )
            for number, (text, file, other, keep) in enumerate(found)
        ]
        includes = [text for text in texts if text.startswith("include")][:1]
        text = "".join([*includes, *(one for one in texts if not one.startswith("include"))])
        (root / f"{name}.sls").write_text(text.replace("OUT", str(out)))
    for kind, path, text in more:
        full = root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        try:
            if kind == "file":
                full.write_bytes(b"word\n" * (200 if path.endswith("bin") else 1))
                full.chmod(0o751)
            elif kind == "link":
                full.symlink_to(text)
            else:
                full.mkdir()
        except OSError:
            pass


def outcome(options: dict[str, object], names: dict[str, str], out: Path) -> object:
    """What a run gives, and what it left; with the same names for the roots."""
    shutil.rmtree(out, ignore_errors=True)
    made = Settings(
        **{  # type: ignore[arg-type]
            "id": "here",
            "pillar_roots": {"base": ["/nonexistent"]},
            "grains_file": os.devnull,
            "cachedir": str(out.parent / "cache"),
            "state_dir": str(out.parent / "state"),
            **options,
        }
    )
    try:
        report = apply(make_session(made), Request(sls=("a", "b", "web", "web.x")))
        said: object = [
            (one.chunk.id, one.chunk.sls, one.result.outcome.value, one.result.comment, one.result.changes)
            for one in report.answers
        ]
    except SalternError as problem:  # in the order of their files, which lie elsewhere
        said = sorted(line.rpartition("/")[2] for line in str(problem).splitlines())
    text = msgspec.json.encode(said, enc_hook=str).decode()
    for path, name in sorted(names.items(), key=lambda one: -len(one[0])):
        text = text.replace(path, name)
    return text, left(out)


def left(out: Path) -> dict[str, object]:
    found: dict[str, object] = {}
    for path in sorted(out.rglob("*")):
        name = str(path.relative_to(out))
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_file():
            found[name] = (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        else:
            found[name] = "directory"
    return found


@asynccontextmanager
async def answering(files: AgentFiles, path: Path) -> AsyncIterator[None]:
    """The agent's socket: files, and a pillar that is empty."""

    async def on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        question = msgspec.json.decode(await reader.readline())
        empty = {"pillar": base64.b64encode(msgspec.msgpack.encode({})).decode()}
        answer = await answer_file(files, question) if question["ask"] == "file" else empty
        writer.write(msgspec.json.encode(answer) + b"\n")
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_unix_server(on, path):
        yield


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first, st.lists(layer, max_size=1), layer)
def test_a_run_from_an_agents_copy_is_the_run_at_home(
    tmp_path: Path, base: Any, more: list[Any], dev: Any
) -> None:
    layers = [base, *more]
    place = tmp_path / uuid.uuid4().hex[:8]
    out = place / "out"
    roots = {"base": [f"{place}/r/base{number}" for number in range(len(layers))], "dev": [f"{place}/r/dev"]}
    for found, root in zip([*layers, dev], [*roots["base"], *roots["dev"]], strict=True):
        write(Path(root), found, out)
    (place / "r/base0/_modules").mkdir()
    (place / "r/base0/_modules/own.py").write_text("def word():\n    return __file__.rpartition('/')[2]\n")
    (place / "r/base0/map.jinja").write_text("{% set word = tplfile %}")
    (place / "r/dev/data").write_text("of dev\n")
    home = outcome(
        {"file_roots": roots},
        {root: f"<{Path(root).name}>" for several in roots.values() for root in several},
        out,
    )

    async def scenario() -> None:
        site = Site(place)
        tree = await site.publish(roots)
        agent = site.agent()
        directory = await agent.ensure(tree.digest)
        options = tree_options(directory, str(place / "s"))
        names = {
            f"{directory}/roots/base": "<base0>",
            f"{directory}/roots/base.1": "<base1>",
            f"{directory}/roots/dev": "<dev>",
        }
        async with answering(agent, place / "s"):
            there = await asyncio.to_thread(outcome, options, names, out)
        await site.close()
        assert there == home

    run(scenario())
