"""States whose commands print too much: the run ends, and what is left out is said."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.command import Place

FILES = {
    "main.sls": """
long:
  cmd.run: [{name: seq 100000}]
stateful:
  cmd.run: [{name: "seq 100000; echo; echo changed=no comment=fine"}, {stateful: true}]
guarded:
  cmd.run: [{name: echo ran}, {unless: seq 100000}]
asked:
  test.configurable_test_state:
    - changes: false
    - result: true
    - comment: "{{ salt['cmd.run']('seq 100000') | length }}"
secret:
  cmd.run: [{name: seq 100000}, {no_log: true}]
"""
}


def test_what_is_too_long_is_bounded_everywhere(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "saltern.yaml").write_text("output_limit: 5000\n")
    place = Place(tmp_path).write(FILES)
    done = place.run("apply", "main", "--out", "json")
    assert done.code == 0, done.err
    answers = done.answers()
    changes = answers["long"]["changes"]
    assert isinstance(changes, dict)
    assert len(changes["stdout"]) < 5400
    assert "bytes left out" in changes["stdout"]
    (folder,) = tmp_path.rglob("*.out")
    text = next(one for one in folder.iterdir() if str(one) in changes["stdout"]).read_text()
    assert text == "".join(f"{n}\n" for n in range(1, 100001))
    assert len(list(folder.iterdir())) == 2, "nothing of what is secret"
    assert answers["stateful"]["comment"] == "fine"
    assert answers["guarded"]["changes"] == {}
    assert int(str(answers["asked"]["comment"])) < 5400
    assert folder.stat().st_mode & 0o777 == 0o700
    called = place.run("call", "cmd.run_all", "seq 100000", "--out", "json")
    assert called.code == 0, called.err
    assert "bytes left out" in called.out


def test_the_files_go_with_the_run(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "saltern.yaml").write_text("output_limit: 5000\nkeep_runs: 1\n")
    place = Place(tmp_path).write(FILES)
    for _ in range(2):
        assert place.run("apply", "main").code == 0
    assert len(list(tmp_path.rglob("*.out"))) == 1
