"""``opts`` has what a minion of Salt has, and nothing of ours that would hide a pillar key."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests import kit

from saltern.config.load import load
from saltern.config.minion import OWN, SHARED, options
from saltern.config.options import OPTIONS
from saltern.config.settings import Settings
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.engine.show import show_low
from saltern.language.diagnostics import Diagnostics

ROOT = Path(__file__).parent.parent.parent.parent
SITE = Path(os.environ.get("SALTERN_SALT_SITE") or ROOT / "build" / "salt")
# Where a minion without a master, or one that is us, differs from the usual one.
OURS = frozenset(
    ("cachedir", "extension_modules", "file_client", "file_roots", "id", "ipc_write_buffer", "local", "user")
)
OURS |= {"metrics", "tracing", "pillar_roots", "grains", "global_state_conditions"}


@pytest.mark.skipif(not (SITE / "salt").is_dir(), reason="no Salt here: make salt")
def test_every_option_that_salt_gives_a_minion_is_there_with_its_value() -> None:
    program = (
        "import json, salt.config as c\n"
        "def plain(v):\n"
        "    if hasattr(v, 'items'): return {k: plain(x) for k, x in v.items()}\n"
        "    return [plain(x) for x in v] if not isinstance(v, (str, int, float, type(None))) else v\n"
        "print(json.dumps(plain(c.DEFAULT_MINION_OPTS)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={**os.environ, "PYTHONPATH": str(SITE)},
        capture_output=True,
        text=True,
        check=True,
    )
    salts = json.loads(done.stdout)
    mine = json.loads(json.dumps(options(Settings(), "root")))
    assert not salts.keys() - mine.keys()
    assert salts.keys() & OPTIONS.keys() == set(SHARED.split())
    assert {key: mine[key] for key in salts if key not in OURS} == {
        key: value for key, value in salts.items() if key not in OURS
    }


def test_paths_are_those_of_the_configuration_that_was_read(tmp_path: Path) -> None:
    (tmp_path / "minion").write_text("id: web1\nroot_dir: /chroot\nlog_file: /elsewhere\n")
    settings, _ = load(str(tmp_path / "minion"), {}, {})
    made = options(settings, "root")
    assert made["conf_file"] == str(tmp_path / "minion")
    assert made["config_dir"] == str(tmp_path)
    assert made["root_dir"] == "/chroot"
    assert made["pki_dir"] == "/chroot/etc/salt/pki/minion"
    assert made["log_file"] == "/elsewhere"
    assert made["id"] == "web1"


def test_options_that_only_we_have_do_not_hide_pillar_until_they_are_set() -> None:
    assert OPTIONS.keys() >= OWN
    assert not options(Settings(), "root").keys() & OWN
    assert options(Settings(keep_runs=3), "root")["keep_runs"] == 3
    names = [*sorted(OWN - {"grains_file", "state_dir"}), "files"]  # kit sets those
    asked = " ".join(f"{{{{ salt['config.get']('{name}') }}}}" for name in names)
    files = {"main.sls": f"x:\n  test.nop:\n    - text: {asked}\n"}
    pillar = {name: f"my-{name}" for name in names}
    assert str(kit.low(files, pillar=pillar)[0]["text"]).split() == list(pillar.values())


def test_opts_has_the_environment_that_was_asked_for_and_base_for_named_files(tmp_path: Path) -> None:
    (tmp_path / "x.sls").write_text("x:\n  test.nop:\n    - text: env {{ opts.saltenv }}\n")
    (tmp_path / "top.sls").write_text("{{ saltenv }}: {'*': [x]}\n")

    def seen(*sls: str, env: str | None = None) -> object:
        session = Session(Settings(file_roots={env or "base": [str(tmp_path)]}, id="x"), grains={})
        return show_low(session, Request(sls=sls, saltenv=env), Diagnostics())[0]["text"]

    assert seen("x") == "env base"
    assert seen("x", env="dev") == seen(env="dev") == "env dev"
    assert seen() == "env None"


def test_templates_find_grains_and_pillar_in_opts() -> None:
    text = "{{ opts['grains']['own'] }} {{ opts.pillar.role }} {{ opts.config_dir }} {{ opts['id'] }}"
    files = {"main.sls": f"x:\n  test.nop:\n    - text: {text}\n"}
    found = kit.low(files, grains={"own": 1}, pillar={"role": "web"})[0]["text"]
    assert found == "1 web /etc/salt here"


def test_what_one_run_changes_in_opts_no_other_run_sees() -> None:
    first = options(Settings(), "root")
    for value in first.values():
        if isinstance(value, list):
            value.append("changed")
        elif isinstance(value, dict):
            value["changed"] = True
    assert "changed" not in json.dumps(options(Settings(), "root"))


@pytest.mark.parametrize(
    ("config", "flags", "environ", "name"),
    [
        ("", {"grains_file": True}, {}, "foo"),
        ("id: bar", {"grains_file": True}, {}, "foo"),
        ("id: bar\ngrains_file: {grains}", {}, {}, "bar"),
        ("grains_file: {grains}", {}, {}, "foo"),
        ("", {"grains_file": True, "id": "typed"}, {}, "typed"),
        ("", {"grains_file": True}, {"SALTERN_ID": "given"}, "given"),
    ],
)
def test_the_id_of_a_grains_file_names_the_machine(
    config: str, flags: dict[str, object], environ: dict[str, str], name: str, tmp_path: Path
) -> None:
    grains = tmp_path / "grains.yaml"
    grains.write_text("{id: foo, os: X}\n")
    (tmp_path / "minion").write_text(config.replace("{grains}", str(grains)))
    given = {key: str(grains) if value is True else value for key, value in flags.items()}
    settings, _ = load(str(tmp_path / "minion"), given, environ)
    assert settings.id == name
