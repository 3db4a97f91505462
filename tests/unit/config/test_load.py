from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from saltern.config.load import load
from saltern.config.settings import Settings, cache_directory
from saltern.language.diagnostics import OperationError


def write(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def problem(tmp_path: Path, text: str) -> str:
    path = write(tmp_path / "saltern.yaml", text)
    with pytest.raises(OperationError) as caught:
        load(path, {}, {})
    return str(caught.value).replace(str(tmp_path), "")


def test_without_a_file_the_defaults_hold_and_yaml_is_not_loaded() -> None:
    code = (
        "import sys; from saltern.config.load import load\n"
        "settings, found = load(None, {'test': True}, {})\n"
        "print(settings.test, found, 'yaml' in sys.modules, 'glob' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True [] False False"


def test_the_file_then_the_environment_then_what_is_given_by_hand(tmp_path: Path) -> None:
    path = write(tmp_path / "c.yaml", "state_output: terse\nsaltenv: dev\nhash_type: md5\n")
    environ = {"SALTERN_STATE_OUTPUT": "mixed", "SALTERN_SALTENV": "stage", "OTHER": "1"}
    settings, _ = load(path, {"state_output": "changes", "pillarenv": None}, environ)
    assert (settings.state_output, settings.saltenv, settings.hash_type) == ("changes", "stage", "md5")
    assert settings.pillarenv is None


def test_the_environment_may_name_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "c.yaml", "id: web1\n")
    settings, _ = load(None, {}, {"SALTERN_CONFIG": path})
    assert settings.id == "web1"
    assert settings.files == [path]


def test_the_users_own_file_is_found(tmp_path: Path) -> None:
    write(tmp_path / ".config/saltern/saltern.yaml", "id: own\n")
    settings, _ = load(None, {}, {"HOME": str(tmp_path)})
    assert settings.id == "own"


def test_a_directory_stands_for_the_minion_file_in_it(tmp_path: Path) -> None:
    write(tmp_path / "minion", "id: salty\n")
    assert load(str(tmp_path), {}, {})[0].id == "salty"


def test_a_named_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OperationError, match="no configuration file"):
        load(str(tmp_path / "none.yaml"), {}, {})
    with pytest.raises(OperationError, match=r"needs a file saltern\.yaml or minion"):
        load(str(tmp_path), {}, {})


def test_a_minion_configuration_is_read_as_it_is(tmp_path: Path) -> None:
    path = write(
        tmp_path / "minion",
        "master: salt.example.com\npublish_port: 4505\nlog_level: info\nmysql.host: db\n"
        "file_client: local\nmine_functions: {}\nfile_roots:\n  base:\n    - /srv/a\n  dev: /srv/b\n",
    )
    settings, found = load(path, {}, {})
    assert found == []
    assert settings.file_roots == {"base": ["/srv/a"], "dev": ["/srv/b"]}
    assert settings.extra["mysql.host"] == "db"


def test_unknown_keys_are_one_warning_and_are_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "saltern.yaml", "# mine\nstate_outptu: full\nrole: web\n")
    settings, found = load(path, {}, {})
    assert settings.extra == {"state_outptu": "full", "role": "web"}
    assert len(found) == 1
    told = str(found[0]).replace(str(tmp_path), "")
    assert told.startswith("/saltern.yaml:2: saltern does not use these keys: state_outptu")
    assert "(/saltern.yaml:2, did you mean 'state_output'?), role (/saltern.yaml:3)" in told


def test_a_key_that_changes_results_elsewhere_is_not_ignored_silently(tmp_path: Path) -> None:
    path = write(tmp_path / "minion", "svnfs_remotes: []\n")
    assert "svnfs_remotes" in str(load(path, {}, {})[1][0])


def test_included_files_win_over_the_main_one_and_add_to_each_other(tmp_path: Path) -> None:
    path = write(tmp_path / "minion", "id: main\ngrains: {a: 1}\ninclude: extra/*.yaml\n")
    write(tmp_path / "minion.d/10.conf", "grains: {b: 2}\nenv_order: [base]\n")
    write(tmp_path / "minion.d/20.conf", "grains: {c: 3}\nenv_order: [dev]\n")
    write(tmp_path / "minion.d/ignored.txt", "id: no\n")
    write(tmp_path / "extra/x.yaml", "id: included\n")
    settings, _ = load(path, {}, {})
    assert settings.grains == {"b": 2, "c": 3}
    assert settings.env_order == ["base", "dev"]
    assert settings.id == "included"
    assert [os.path.basename(file) for file in settings.files] == ["minion", "10.conf", "20.conf", "x.yaml"]


def test_a_file_that_includes_itself_is_an_error(tmp_path: Path) -> None:
    assert "includes itself" in problem(tmp_path, "include: saltern.yaml\n")


def test_relative_directories_start_at_the_file_that_names_them(tmp_path: Path) -> None:
    text = "file_roots:\n  base: [states, /abs, ~/mine]\nmodule_dirs: m\ncachedir: cache\n"
    settings, _ = load(write(tmp_path / "c.yaml", text), {}, {})
    assert settings.file_roots["base"] == [f"{tmp_path}/states", "/abs", os.path.expanduser("~/mine")]
    assert settings.module_dirs == [f"{tmp_path}/m"]
    assert settings.cachedir == f"{tmp_path}/cache"


def test_directories_alone_are_those_of_base_and_patterns_are_unfolded(tmp_path: Path) -> None:
    (tmp_path / "formulas/b").mkdir(parents=True)
    (tmp_path / "formulas/a").mkdir()
    settings, _ = load(write(tmp_path / "c.yaml", "file_roots: [one, formulas/*]\n"), {}, {})
    assert settings.file_roots == {
        "base": [f"{tmp_path}/one", f"{tmp_path}/formulas/a", f"{tmp_path}/formulas/b"]
    }


def test_texts_are_read_as_numbers_flags_lists_and_mappings(tmp_path: Path) -> None:
    text = 'state_max_parallel: "4"\ntest: "True"\nfailhard: "no"\nstate_tabular: True\nsaltenv: 2024\n'
    environ = {
        "SALTERN_STATE_OUTPUT_EXCLUDE": "True, None",
        "SALTERN_GRAINS": '{"role": "web"}',
        "SALTERN_FILE_ROOTS": "/a:/b",
        "SALTERN_PILLAR_ROOTS": '{"dev": ["/p"]}',
        "SALTERN_STATE_AGGREGATE": "pkg,user",
        "SALTERN_RENDER_TIME_LIMIT": "2.5",
    }
    settings, _ = load(write(tmp_path / "c.yaml", text), {}, environ)
    assert (settings.state_max_parallel, settings.test, settings.failhard) == (4, True, False)
    assert (settings.state_tabular, settings.saltenv) == (True, "2024")
    assert settings.state_output_exclude == ["True", "None"]
    assert settings.grains == {"role": "web"}
    assert settings.file_roots == {"base": ["/a", "/b"]}
    assert settings.pillar_roots == {"dev": ["/p"]}
    assert settings.state_aggregate == ["pkg", "user"]
    assert settings.render_time_limit == 2.5


def test_an_empty_value_is_as_if_not_set(tmp_path: Path) -> None:
    settings, _ = load(write(tmp_path / "c.yaml", "file_roots:\nstate_top_saltenv: null\n"), {}, {})
    assert settings.file_roots == {"base": ["/srv/salt"]}


def test_an_empty_file_is_fine(tmp_path: Path) -> None:
    assert load(write(tmp_path / "c.yaml", "# nothing\n"), {}, {})[0].renderer == "jinja|yaml"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\ntest: maybe\n", "/saltern.yaml:2: the option 'test' needs true or false, not 'maybe'"),
        ("file_roots: 3\n", "needs a mapping of environments to directories, not 3"),
        ("state_max_parallel: -1\n", "needs a whole number, not -1"),
        ("state_max_parallel: true\n", "needs a whole number, not True"),
        ("state_top: [a]\n", "needs text, not ['a']"),
        ("grains: web\n", "needs a mapping, not 'web'"),
        ("render_time_limit: .inf\n", "needs a number of seconds"),
        ("pillar_source_merging_strategy: smrt\n", "did you mean 'smart'?"),
        ("id: [\n", "/saltern.yaml:2:1: not valid YAML"),
        ("- a\n", "the file must be a mapping of keys to values"),
        ("id: \tx\n  - y: z: w\n", "not valid YAML"),
    ],
)
def test_a_wrong_value_is_reported_with_its_place_and_what_is_needed(
    tmp_path: Path, text: str, told: str
) -> None:
    assert told in problem(tmp_path, text)


def test_a_file_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_bytes(b"id: \xff\xfe\n")
    with pytest.raises(OperationError, match="not UTF-8"):
        load(str(tmp_path / "c.yaml"), {}, {})


def test_a_wrong_value_in_the_environment_names_the_variable() -> None:
    with pytest.raises(OperationError, match=r"\$SALTERN_TEST: the option 'test' needs"):
        load(None, {}, {"SALTERN_TEST": "perhaps"})


def test_an_unknown_option_by_hand_is_an_error() -> None:
    with pytest.raises(OperationError, match="did you mean 'failhard'"):
        load(None, {"failhrad": True}, {})
    with pytest.raises(OperationError, match="the option 'failhard' needs"):
        load(None, {"failhard": "perhaps"}, {})


def test_salts_file_with_the_minion_id_is_used_when_nothing_else_names_one(tmp_path: Path) -> None:
    path = write(tmp_path / "minion", "test: true\n")
    write(tmp_path / "minion_id", "cached.example.com\n")
    assert load(path, {}, {})[0].id == "cached.example.com"
    assert load(path, {"id": "given"}, {})[0].id == "given"


def test_the_cache_is_where_the_user_may_write(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_directory(Settings(cachedir="/x")) == "/x"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert cache_directory(Settings()) == "/var/cache/saltern"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_CACHE_HOME", "/home/u/.cache")
    assert cache_directory(Settings()) == "/home/u/.cache/saltern"


def test_a_file_in_the_current_directory_is_found_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / ".config/saltern/saltern.yaml", "id: own\n")
    write(tmp_path / "here/saltern.yaml", "id: here\n")
    monkeypatch.chdir(tmp_path / "here")
    settings, found = load(None, {}, {"HOME": str(tmp_path)})
    assert (settings.id, found) == ("here", [])
    assert settings.files == [str(tmp_path / "here/saltern.yaml")]


def test_a_file_that_others_can_write_is_ignored_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.chmod(write(tmp_path / "saltern.yaml", "id: here\n"), 0o666)
    monkeypatch.chdir(tmp_path)
    settings, found = load(None, {}, {})
    assert settings.id != "here"
    assert [one.code for one in found] == ["configuration-ignored"]
    assert "can be written by other users" in found[0].what
    assert "--config saltern.yaml" in found[0].fix


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a file to another user")
def test_a_file_of_another_user_is_ignored_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.chown(write(tmp_path / "saltern.yaml", "id: here\n"), 12345, 12345)
    monkeypatch.chdir(tmp_path)
    settings, found = load(None, {}, {})
    assert settings.id != "here"
    assert "the user with the number 12345" in found[0].what
    settings, _ = load("saltern.yaml", {}, {})
    assert settings.id == "here"


def test_all_bad_values_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    path = write(tmp_path / "saltern.yaml", "test: maybe\nid: ok\nfailhard: [1]\nmax_yaml_depth: deep\n")
    with pytest.raises(OperationError) as caught:
        load(path, {}, {})
    assert [str(one.where).rpartition(":")[2] for one in caught.value.diagnostics] == ["1", "3", "4"]


def test_all_bad_values_of_the_environment_are_reported_at_once() -> None:
    with pytest.raises(OperationError) as caught:
        load(None, {}, {"SALTERN_TEST": "maybe", "SALTERN_FAILHARD": "perhaps"})
    assert len(caught.value.diagnostics) == 2


def test_what_a_minion_has_beside_is_for_templates_and_sets_no_option(tmp_path: Path) -> None:
    path = write(tmp_path / "c.yaml", "minion_options: {colour: red, strict: maybe, kept: no}\nkept: here\n")
    settings, found = load(path, {}, {})
    assert (settings.extra["colour"], settings.extra["kept"], settings.strict) == ("red", "here", False)
    assert "colour" not in "".join(map(str, found))


def test_a_bad_state_output_is_reported_with_the_other_bad_values(tmp_path: Path) -> None:
    said = problem(tmp_path, "state_verbose: maybe\nstate_output: fancy\nhash_type: sha0\n")
    assert "saltern.yaml:1: the option 'state_verbose' needs true or false" in said
    assert "saltern.yaml:2: the option 'state_output' needs one of full, terse, mixed, " in said
    assert "saltern.yaml:3: the option 'hash_type' needs one of md5, " in said


@pytest.mark.parametrize("value", ["full", "mixed_id", "changes_id_color", "terse_color"])
def test_how_states_are_shown_may_have_an_ending(tmp_path: Path, value: str) -> None:
    assert load(write(tmp_path / "c.yaml", f"state_output: {value}\n"), {}, {})[0].state_output == value


@pytest.mark.parametrize("value", ["full_", "_id", "full_color_id", "full_id_id"])
def test_other_endings_are_none(tmp_path: Path, value: str) -> None:
    assert "the option 'state_output' needs one of" in problem(tmp_path, f"state_output: {value}\n")
