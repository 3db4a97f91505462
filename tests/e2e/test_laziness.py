"""Start-up speed: what a run does not need is not imported."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest
from tests.e2e.command import Place

# Never, whatever a run of the engine does.
NEVER = frozenset(
    (
        "asyncio", "nats", "rich", "psutil", "ssl", "importlib.metadata", "pkg_resources", "multiprocessing",
        "saltern.fleet",
    )
)  # fmt: skip
# Not as long as nothing goes wrong and no module asks for it.
RARELY = NEVER | {
    "logging", "argparse", "difflib", "pathlib", "email", "urllib.request", "http.client", "socket",
    "concurrent",
    "unittest", "sqlite3", "xml", "tempfile", "shutil", "dataclasses",
}  # fmt: skip
# Not by a run that only looks, of files without templates: what acts, waits, resumes, refuses or explains.
IDLE = frozenset(
    f"saltern.{name}"
    for name in (
        "compat.library", "compat.unread", "compiler.ports", "compiler.shapes", "facts.probe",
        "language.merge", "language.ordered", "modules.api.pure_functions", "render.filters", "render.yaml",
        "runtime.replay", "runtime.delayed", "runtime.guards", "runtime.parallel", "runtime.pool",
        "runtime.ports", "runtime.recovery", "runtime.retry", "system.files", "system.guard", "system.host",
        "journal.fold", "journal.reader", "journal.summaries", "compiler.use", "compiler.reverse",
        "compiler.extend", "compiler.exclude", "system.ledger", "system.live", "system.output",
        "system.code_file", "system.leftovers", "system.power", "system.process", "system.keeper_process",
        "system.temporary",
    )
) | {
    "fnmatch", "re", "encodings.utf_8_sig", "signal", "struct", "platform", "textwrap", "msgspec.inspect",
}  # fmt: skip
# Of encrypted values, stores of secrets, pillar from elsewhere and git.
OF_SECRETS = (
    "cryptography", "nacl", "pyrage", "saltern.compat.external_pillar", "saltern.compat.pillars",
    "saltern.language.secret_pillar", "saltern.modules.lib.sdb", "saltern.render.age",
    "saltern.render.armour", "saltern.render.encrypted", "saltern.render.gpg", "saltern.render.nacl",
    "saltern.render.sops",
    "saltern.sources.git", "saltern.system.gpg", "saltern.system.vault", "saltern.system.web_answer",
)  # fmt: skip
PROGRAM = """
import os, sys
sys.argv = ["saltern", *sys.argv[1:]]
def leave(code):
    with open(os.environ["MODULES"], "w") as file:
        file.write("\\n".join(sys.modules))
    end(code)
end, os._exit = os._exit, leave
from saltern.__main__ import main
main()
sys.stdout.flush()
leave(0)
"""
STATES = {
    "plain": "a: test.nop\nb: {test.nop: [require: [{test: a}]]}\n",
    "jinja": "{% for name in ['a', 'b'] %}\n{{ name }}: test.nop\n{% endfor %}\n",
    "command": "a: {cmd.run: [name: 'true']}\n",
    "managed": "TARGET:\n  file.managed:\n    - contents: hello\n",
}


def modules_of(place: Place, *argv: str) -> set[str]:
    """The modules that the real program has imported when it ends."""
    listing = place.base / "modules"
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(place.base),
        "SALTERN_CACHEDIR": str(place.base / "cache"),
        "SALTERN_STATE_DIR": str(place.base / "runs"),
        "MODULES": str(listing),
    }
    done = subprocess.run([sys.executable, "-c", PROGRAM, *argv], capture_output=True, timeout=40, env=env)
    assert done.returncode == 0, done
    return set(listing.read_text().split("\n"))


def loaded(names: set[str], unwanted: frozenset[str]) -> set[str]:
    return {name for name in unwanted if name in names}


def test_the_version_needs_nothing_of_ours(place: Place) -> None:
    names = modules_of(place, "--version")
    assert {name for name in names if name.split(".")[0] == "saltern"} <= {"saltern", "saltern.__main__"}
    assert not {"msgspec", "yaml", "jinja2"} & names


@pytest.mark.parametrize("kind", STATES)
@pytest.mark.parametrize("out", ["highstate", "json"])
def test_a_run_imports_only_what_it_needs(place: Place, kind: str, out: str) -> None:
    target = place.base / "target"
    place.write({"main.sls": STATES[kind].replace("TARGET", str(target))})
    argv = place.argv("apply", "main", "--out", out)
    modules_of(place, *argv)  # the first run fills the cache and makes the file
    names = modules_of(place, *argv)
    assert loaded(names, NEVER) == set()
    allowed = {"jinja": {"tempfile", "shutil", "dataclasses"}}.get(kind, set())
    assert loaded(names, RARELY) <= allowed
    if kind != "jinja":
        assert "jinja2" not in names
    if kind != "command":
        assert "subprocess" not in names


def test_old_runs_that_acted_are_removed_without_a_database(place: Place) -> None:
    place.write({"acts.sls": STATES["command"], "main.sls": STATES["plain"]})
    (place.base / "saltern.yaml").write_text("keep_runs: 1\n")
    config = ("--config", str(place.base / "saltern.yaml"))
    for name in ("acts", "main"):
        modules_of(place, *place.argv("apply", name, *config))  # the second fills the cache
    before = sorted((place.base / "runs/runs").glob("*.run"))
    names = modules_of(place, *place.argv("apply", "main", *config))
    after = sorted((place.base / "runs/runs").glob("*.run"))
    assert after and before[0] not in after
    assert loaded(names, RARELY) == set()


def test_what_a_command_of_the_line_needs_is_known_without_entry_points(place: Place) -> None:
    place.write({"main.sls": STATES["plain"], "top.sls": "base: {'*': [main]}\n"})
    for argv in (place.argv("show", "lowstate"), place.argv("call", "test.ping"), place.argv("apply")):
        assert loaded(modules_of(place, *argv), NEVER) == set()


def test_importing_the_parser_of_yaml_does_not_bring_its_writer(place: Place) -> None:
    """``json`` and ``yaml`` outputs are the only ones who write them."""
    place.write({"main.sls": STATES["plain"]})
    names = modules_of(place, *place.argv("apply", "main", "--out", "json"))
    assert not {
        name
        for name in names
        if name.startswith("saltern.report") and name.endswith((".human", ".yaml", ".junit", ".live"))
    }


def test_a_second_run_of_plain_files_needs_no_yaml_parser(place: Place) -> None:
    place.write({"main.sls": STATES["plain"]})
    argv = place.argv("apply", "main", "--out", "json")
    assert "yaml" in modules_of(place, *argv)
    assert "yaml" not in modules_of(place, *argv)


def test_what_must_not_be_imported_exists() -> None:
    """A module that was renamed would never be imported, and nothing would be held to anything."""
    ours = sorted(name for name in IDLE | NEVER | RARELY if name.startswith("saltern."))
    assert [name for name in ours if importlib.util.find_spec(name) is None] == []


def test_a_run_that_only_looks_does_not_import_what_acts(place: Place) -> None:
    place.write({"main.sls": STATES["plain"]})
    argv = place.argv("apply", "main", "--out", "json")
    modules_of(place, *argv)
    assert loaded(modules_of(place, *argv), IDLE) == set()


def test_what_a_template_made_is_not_kept(place: Place) -> None:
    place.write({"main.sls": "{% set name = 'hunter2' %}\n{{ name }}: test.nop\n"})
    modules_of(place, *place.argv("apply", "main", "--out", "json"))
    kept = list((place.base / "cache").rglob("yaml-*/*"))
    assert kept == []


def test_a_tree_without_secrets_and_remotes_imports_nothing_for_them(place: Place) -> None:
    """Pillar of files, a template and a changed file: neither keys, nor stores, nor git."""
    place.write(
        {
            "pillar/top.sls": "base: {'*': [data]}\n",
            "pillar/data.sls": "user: {{ grains.id }}\npassword: not-encrypted\n",
            "main.sls": f"{place.base}/made:\n  file.managed: [{{contents: '{{{{ pillar.password }}}}'}}]\n",
        }
    )
    roots = ("--file-root", str(place.states), "--pillar-root", str(place.base / "pillar"))
    names = modules_of(place, "apply", "main", *roots)
    assert (place.base / "made").read_text() == "not-encrypted\n"
    assert not {name for name in names if name.startswith(OF_SECRETS)}
