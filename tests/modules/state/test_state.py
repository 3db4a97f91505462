"""``state``: files of a tree compiled and applied through functions, as in a run of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from saltern.config.settings import Settings
from saltern.engine.apply import apply
from saltern.engine.nested_engine import make_session
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.language.result import Outcome
from saltern.modules.api.params import BadArgument

FILES = {
    "top.sls": "base:\n  '*': [web]\n",
    "web.sls": "include: [lib]\nsite:\n  test.succeed_with_changes:\n    - require: [{test: base}]\n",
    "lib.sls": "base:\n  test.nop: []\n",
    "told.sls": "{{ pillar['word'] }}:\n  test.nop: []\n",
    "broken.sls": "a:\n  test.nop:\n    - requires: [b]\n  : :\n",
    "asks.sls": "{% if salt['state.sls_exists']('web') %}there:\n  test.nop: []\n{% endif %}",
    "itself.sls": "x:\n  test.show_notification:\n    - text: {{ salt.state.show_sls('itself') | json }}\n",
    "runs.sls": "nested:\n  module.run:\n    - state.sls: [{mods: web}]\n",
}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    tree = tmp_path / "tree"
    tree.mkdir()
    for name, text in FILES.items():
        (tree / name).write_text(text)
    made = make_session(
        Settings(
            id="here",
            file_roots={"base": [str(tree)]},
            pillar_roots={},
            cachedir=str(tmp_path / "cache"),
            grains_file=str(tmp_path / "grains"),
        )
    )
    made.load_pillar()
    return made


def test_files_are_there_and_right_or_not(session: Session) -> None:
    exists = session.salt["state.sls_exists"]
    assert [exists(name) for name in ("web", "web,lib", ["web"], "nope", "broken")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    ids = session.salt["state.id_exists"]
    assert ids("site,base", "web") is True
    assert ids(["site", "zork"], "web") is False
    assert ids("site", "nope") is False


def test_high_and_low_data_are_those_of_salt(session: Session) -> None:
    high = session.salt["state.show_sls"]("lib")
    assert high == {"base": {"test": ["nop", {"order": 10000}], "__sls__": "lib", "__env__": "base"}}
    low = session.salt["state.show_low_sls"]("web")
    assert isinstance(low, list) and [chunk["__id__"] for chunk in low] == ["base", "site"]
    assert session.salt["state.show_lowstate"]() == low
    assert session.salt["state.show_highstate"]() == session.salt["state.show_sls"]("web")
    assert session.salt["state.show_top"]() == {"base": ["web"]}
    assert session.salt["state.show_states"]() == ["lib", "web"]
    usage = session.salt["state.show_state_usage"]()
    assert isinstance(usage, dict) and usage["base"]["used"] == ["web"]
    assert (usage["base"]["count_used"], usage["base"]["count_all"]) == (1, len(FILES))


def test_what_is_wrong_comes_as_a_list_of_texts(session: Session) -> None:
    told = session.salt["state.show_sls"]("nope")
    assert isinstance(told, list) and "no SLS is called 'nope'" in told[0]
    assert isinstance(session.salt["state.show_low_sls"]("broken"), list)
    assert isinstance(session.salt["state.sls"]("nope"), list)
    with pytest.raises(BadArgument, match="at least one SLS"):
        session.salt["state.show_sls"]("")


def test_files_are_applied_in_a_run_of_their_own(session: Session) -> None:
    done = session.salt["state.sls"]("web")
    assert isinstance(done, dict)
    assert [one["__id__"] for one in done.values()] == ["base", "site"]
    tag = "test_|-site_|-site_|-succeed_with_changes"
    assert done[tag]["result"] is True and done[tag]["changes"]
    for call in (
        session.salt["state.sls"]("web", test=True),
        session.salt["state.test"]("web"),
        session.salt["state.apply"]("web", test=True),
        session.salt["state.highstate"](test=True),
    ):
        assert isinstance(call, dict) and call[tag]["result"] is None
    alone = session.salt["state.sls_id"]("site", "web", test=True)
    assert isinstance(alone, dict) and tag in alone
    assert list(session.run.chunks) == [], "the run that asks stays as it is"


def test_one_state_and_a_file_outside_of_the_tree_are_applied(session: Session, tmp_path: Path) -> None:
    made = session.salt["state.single"]("file.directory", str(tmp_path / "new"), test=True)
    assert isinstance(made, dict) and not (tmp_path / "new").exists()
    session.salt["state.single"]("file.directory", str(tmp_path / "new"))
    assert (tmp_path / "new").is_dir()
    (tmp_path / "else.sls").write_text("here:\n  test.nop: []\n")
    done = session.salt["state.template"](str(tmp_path / "else"))
    assert isinstance(done, dict) and [one["__id__"] for one in done.values()] == ["here"]
    with pytest.raises(BadArgument, match="there is no file"):
        session.salt["state.template"]("/no/such")
    with pytest.raises(BadArgument, match="is not a state"):
        session.salt["state.single"]("directory", "/x")


def test_values_of_the_pillar_can_be_given(session: Session) -> None:
    high = session.salt["state.show_sls"]("told", pillar={"word": "given"})
    assert isinstance(high, dict) and list(high) == ["given"]
    assert session.salt["state.sls_exists"]("told") is False


def test_a_template_may_ask_and_one_that_asks_for_itself_is_stopped(session: Session) -> None:
    high = session.salt["state.show_sls"]("asks")
    assert isinstance(high, dict) and list(high) == ["there"]
    assert "call each other through files" in str(session.salt["state.show_sls"]("itself"))


def test_a_state_may_apply_files(session: Session) -> None:
    (answer,) = apply(session, Request(sls=("runs",))).answers
    assert answer.result.outcome is Outcome.OK
    assert "succeed_with_changes" in str(answer.result.changes)


def test_what_is_disabled_is_kept_in_the_grains(session: Session) -> None:
    salt = session.salt
    assert salt["state.list_disabled"]() == []
    assert salt["state.disable"]("pkg.*,file.managed") == {
        "res": True,
        "msg": "Info: pkg.* state disabled.\nInfo: file.managed state disabled.",
    }
    assert salt["state.list_disabled"]() == ["pkg.*", "file.managed"]
    assert salt["state.disable"]("pkg.*") == {"res": True, "msg": "Info: pkg.* state already disabled."}
    salt["state.enable"](["pkg.*", "file.managed"])
    assert salt["state.list_disabled"]() == []
    assert salt["state.running"]() == []


def test_a_run_that_cannot_compile_says_so(tmp_path: Path) -> None:
    bare = Session(Settings(id="here", cachedir=str(tmp_path)))
    with pytest.raises(BadArgument, match="command line"):
        bare.salt["state.show_top"]()


def test_what_is_in_no_file_is_applied(session: Session) -> None:
    salt = session.salt
    text = "#!jinja|yaml\n{{ pillar['word'] }}:\n  test.nop: []\n"
    done = salt["state.template_str"](text, pillar={"word": "given"})
    assert isinstance(done, dict) and list(done) == ["test_|-given_|-given_|-nop"]
    high = {"made": {"test": ["succeed_with_changes", {"name": "x"}]}}
    tag = "test_|-made_|-x_|-succeed_with_changes"
    assert [salt["state.high"](high, test=test)[tag]["result"] for test in (True, False)] == [None, True]  # type: ignore[index]
    assert isinstance(salt["state.template_str"]("a: {b: {"), list)
    assert isinstance(salt["state.high"]({"a": {"test": ["nop", {"require": ["b"]}]}}), list)


def test_a_chunk_of_low_data_gives_its_own_return(session: Session) -> None:
    done = session.salt["state.low"]({"state": "test", "fun": "nop", "name": "x"})
    assert isinstance(done, dict) and (done["name"], done["result"]) == ("x", True)
    with pytest.raises(BadArgument, match="low data needs fun, name"):
        session.salt["state.low"]({"state": "test"})


def test_another_top_file_is_applied(session: Session, tmp_path: Path) -> None:
    (tmp_path / "tree" / "other.sls").write_text("base:\n  '*': [lib]\n")
    done = session.salt["state.top"]("other.sls")
    assert isinstance(done, dict) and [one["__id__"] for one in done.values()] == ["base"]


def test_an_argument_that_salt_lets_pass_does_not_stop_one_state(session: Session, tmp_path: Path) -> None:
    path = str(tmp_path / "made")
    done = session.salt["state.single"]("file.managed", path, contents="x", flavour="sweet")
    assert isinstance(done, dict) and next(iter(done.values()))["result"] is True
    assert isinstance(session.salt["state.single"]("file.nothing", path), list)


def test_one_state_is_applied_with_values_of_the_pillar(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "made"
    session.salt["state.single"](
        "file.managed", str(path), contents_pillar="a:b", pillar={"a": {"b": "told"}}
    )
    assert path.read_text() == "told\n"
