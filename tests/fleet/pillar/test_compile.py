"""The pillar of one system, compiled from stored facts, and problems that quote nothing of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.fleet.harness import run
from tests.secrets.keyring import indented, key_ring
from tests.sources.repository import Repository

from saltern.fleet.pillar.compile import PillarTask, compile_pillar
from saltern.fleet.pillar.grain_targets import grains_of
from saltern.fleet.pillar.pool import CompilerPool
from saltern.language import secrets
from saltern.language.secret_pillar import KEY

SECRET = "hunter2-s3cret"


def task(root: Path, **more: Any) -> PillarTask:
    options = {"pillar_roots": {"base": [str(root)]}, "file_roots": {"base": [str(root / "files")]}}
    return PillarTask(**{"id": "web1", "grains": {"os": "Debian", "role": "web"}, "options": options, **more})


def write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_name(path.name + ".sls").write_text(text)
    return root


def compiled(made: PillarTask) -> Any:
    result = compile_pillar(made)
    assert not result.problem, result.problem
    return msgspec.msgpack.decode(result.data, strict=False)


def test_a_pillar_is_made_of_the_facts_of_the_system_and_of_nothing_of_the_controller(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        top="base: {'web*': [web], 'db*': [db]}\n",
        web="id: {{ grains.id }}\nos: {{ grains.os }}\nown: {{ grains.get('cpus', 'none') }}\n80: int key\n",
        db="never: here\n",
    )
    assert compiled(task(root)) == {"id": "web1", "os": "Debian", "own": "none", 80: "int key"}


def test_what_the_command_line_gives_is_seen_by_templates(tmp_path: Path) -> None:
    root = write(tmp_path, top="base: {'*': [a]}\n", a="seen: {{ pillar.get('given', 'no') }}\n")
    assert compiled(task(root, overrides={"given": "that"})) == {"seen": "that", "given": "that"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"password: {SECRET}\n  broken: [\n", "yaml"),
        (f"a: {{{{ '{SECRET}'.missing() }}}}\n", ""),
        (f"a: {{{{ 1 / 0 }}}} # {SECRET}\n", ""),
        (f"{{% set x = '{SECRET}' %}}a: {{{{ undefined_thing }}}}\n", ""),
        (f"- {SECRET}\n", "sls-not-mapping"),
        (f"#!py\ndef run():\n    raise ValueError('{SECRET}')\n", ""),
    ],
)
def test_a_problem_names_file_and_line_and_quotes_nothing(tmp_path: Path, text: str, code: str) -> None:
    result = compile_pillar(task(write(tmp_path, top="base: {'*': [a]}\n", a=text)))
    assert result.data == b"" and "a.sls" in result.problem and code in result.problem
    assert SECRET not in result.problem and "[" in result.problem


def test_ext_pillar_functions_commands_and_files(tmp_path: Path) -> None:
    root = write(tmp_path, top="base: {'*': [a]}\n", a="a: 1\n")
    modules = root / "files" / "_pillar"
    modules.mkdir(parents=True)
    (modules / "own.py").write_text(
        "def ext_pillar(id, pillar, *args):\n    return {'own': [id, pillar['a'], *args]}\n"
    )
    (tmp_path / "web1.yaml").write_text("file: yes, it is\n")
    (tmp_path / "say.sh").write_text('#!/bin/sh\necho "{\\"said\\": \\"$1\\"}"\n')
    (tmp_path / "say.sh").chmod(0o755)
    sources = [
        {"own": ["x"]},
        {"cmd_json": f"{tmp_path}/say.sh 'to %s'"},
        {"cmd_yaml": f"{tmp_path}/say.sh %s"},
        {"file": f"{tmp_path}/%s.yaml"},
        {"file": f"{tmp_path}/missing-%s.yaml"},
    ]
    found = compiled(task(root, extra={"ext_pillar": sources}))
    assert found == {"a": 1, "own": ["web1", 1, "x"], "said": "web1", "file": "yes, it is"}


def test_the_name_of_a_machine_is_never_read_by_a_shell(tmp_path: Path) -> None:
    root = write(tmp_path, top="base: {'*': [a]}\n", a="a: 1\n")
    (tmp_path / "say.sh").write_text('#!/bin/sh\necho "{\\"count\\": $#}"\n')
    (tmp_path / "say.sh").chmod(0o755)
    id = f"x; touch {tmp_path}/pwned; $(id) `id` 'q"
    made = task(root, id=id, extra={"ext_pillar": [{"cmd_json": f"{tmp_path}/say.sh %s"}]})
    assert compiled(made)["count"] == 1
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    "source",
    [{"cmd_json": "/nonexistent %s"}, {"cmd_json": "/bin/false"}, {"cmd_json": f"/bin/echo {SECRET}"}],
)
def test_a_source_that_fails_is_named_and_nothing_else(tmp_path: Path, source: dict[str, str]) -> None:
    result = compile_pillar(task(tmp_path, extra={"ext_pillar": [source]}))
    assert "ext_pillar 'cmd_json' failed [ext-pillar]" in result.problem and SECRET not in result.problem


def test_a_line_that_gives_pillar_by_a_grain_warns_unless_the_grain_is_pinned(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        top="base:\n  'G@role:web and web*': [a]\n  'role:db':\n    - match: grain\n    - b\n  'web1': [c]\n",
        a="a: 1\n",
        b="b: 1\n",
        c="c: 1\n",
    )
    [warning] = compile_pillar(task(root)).warnings
    assert "top.sls:2" in warning and "'role'" in warning and "pillar-by-grain" in warning
    assert compile_pillar(task(root, pinned={"role": "web"})).warnings == []
    assert compiled(task(root, pinned={"role": "db"})) == {"b": 1, "c": 1}  # what is pinned counts


def test_grains_are_found_in_every_kind_of_target() -> None:
    groups = {"debs": "G@os:Debian and not P@kernel:B.*", "loop": "N@loop"}
    assert set(grains_of("N@debs or ( G@a:b:c and S@10.0.0.0/8 )", "compound", groups)) == {
        "os",
        "kernel",
        "a",
        "ipv4",
    }
    assert list(grains_of("web* and L@a,b or E@x", "compound", groups)) == []
    assert list(grains_of("N@loop", "compound", groups)) == []
    assert list(grains_of("os:Debian", "grain", groups)) == ["os"]


def test_a_process_that_hangs_or_dies_is_a_problem_of_one_system(tmp_path: Path) -> None:
    def made(name: str, text: str) -> Path:
        return write(tmp_path / name, top="base: {'*': [a]}\n", a=text)

    good = made("good", "a: 1\n")
    slow = made("slow", "#!py\nimport time\ndef run(): time.sleep(60)\n")
    dead = made("dead", "#!py\nimport os\ndef run(): os._exit(3)\n")
    loud = made("loud", "#!py\ndef run():\n  print('x')\n  return {'a': 2}\n")

    async def scenario() -> None:
        pool = CompilerPool(1, limit=8)
        assert "has ended" in (await pool.compile(task(dead))).problem
        assert msgspec.msgpack.decode((await pool.compile(task(good))).data) == {"a": 1}
        assert msgspec.msgpack.decode((await pool.compile(task(loud))).data) == {"a": 2}
        pool._limit = 0.5
        waiting = asyncio.create_task(pool.compile(task(slow)))
        await asyncio.sleep(0)
        assert "longer than" in (await waiting).problem
        pool._limit = 20
        assert msgspec.msgpack.decode((await pool.compile(task(good))).data) == {"a": 1}
        await pool.close()

    run(scenario())


def test_pillar_from_git_is_decrypted_where_it_is_compiled_and_says_what_is_secret(tmp_path: Path) -> None:
    """The controller has repository and key ring; a system gets data, and the list of what to mask."""
    repository = Repository(tmp_path / "served" / "pillar.git")
    with key_ring() as ring:
        block = indented(ring.encrypted(SECRET))
        repository.commit(
            {"top.sls": "base: {'*': [db]}\n", "db.sls": f"#!yaml|gpg\npw: {block}\nuser: app\n"}
        )
        more = Repository(tmp_path / "served" / "more.git")
        more.commit({"top.sls": "base: {'web*': [m]}\n", "m.sls": "more: {{ grains.role }}\n"})
        options = {
            "pillar_roots": {"base": [f"git+{repository.url}@main"]},
            "file_roots": {"base": []},
            "gpg_keydir": str(ring.path),
            "cachedir": str(tmp_path / "cache"),
        }
        extra = {"ext_pillar": [{"git": [f"main {more.url}"]}], "git_pillar_base": "main"}
        lost = {**options, "gpg_keydir": str(tmp_path / "none")}
        try:
            found = compiled(task(tmp_path, options=options, extra=extra))
            broken = compile_pillar(task(tmp_path, options=lost))
        finally:
            secrets.forget()
    assert found.pop(KEY) == [SECRET.encode()]
    assert found == {"pw": SECRET, "user": "app", "more": "web"}
    assert "db.sls:3" in broken.problem
    assert SECRET not in broken.problem
