"""``git``: against repositories of our own, in a scratch directory."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.modules.bench import needs_root

from saltern.language.result import Outcome
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.git import query as functions
from saltern.modules.states.git.cloned import cloned
from saltern.modules.states.git.config import config_set, config_unset
from saltern.modules.states.git.detached import detached
from saltern.modules.states.git.latest import latest
from saltern.modules.states.git.present import present

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")
ENV = {
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@t",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@t",
}


class Origin:
    """A repository to clone, and commands in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        self.commit("one")

    @property
    def url(self) -> str:
        return f"file://{self.path}"

    def git(self, *words: str, at: str = "") -> str:
        found = subprocess.run(
            ["git", *words],
            cwd=at or self.path,
            env={**os.environ, **ENV},
            capture_output=True,
            text=True,
            check=True,
        )
        return found.stdout.strip()

    def commit(self, text: str, file: str = "f") -> str:
        (self.path / file).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", text)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of our own: nobody's git configuration is read or written."""
    path = tmp_path / "home"
    path.mkdir()
    monkeypatch.setenv("HOME", str(path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (path / ".gitconfig").write_text('[protocol "file"]\n\tallow = always\n')
    return path


@pytest.fixture
def origin(tmp_path: Path, home: Path) -> Iterator[Origin]:
    yield Origin(tmp_path / "origin")


def head(desk: Desk, name: str = "w") -> str:
    return subprocess.run(
        ["git", "-C", desk.at(name), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_latest_clones_and_then_follows_the_remote(desk: Desk, origin: Origin) -> None:
    first = origin.git("rev-parse", "HEAD")
    result = desk.change(latest, origin.url, target=desk.at("w"))
    assert result.changes == {
        "new": f"{origin.url} => {desk.at('w')}",
        "revision": {"old": None, "new": first},
    }
    assert result.data == {
        "path": desk.at("w"),
        "revision": first,
        "branch": "main",
        "url": origin.url,
    }
    second = origin.commit("two")
    result = desk.change(latest, origin.url, target=desk.at("w"))
    assert result.changes == {"revision": {"old": first, "new": second}}
    assert desk.text("w/f") == "two"
    assert "up-to-date" in desk.same(latest, origin.url, target=desk.at("w")).comment


def test_a_revision_may_be_a_branch_a_tag_or_a_commit(desk: Desk, origin: Origin) -> None:
    first = origin.git("rev-parse", "HEAD")
    origin.git("tag", "-a", "-m", "x", "v1")
    origin.git("checkout", "-q", "-b", "dev")
    dev = origin.commit("dev")
    origin.git("checkout", "-q", "main")
    origin.commit("two")
    for number, (rev, sha, branch) in enumerate(
        [("dev", dev, "dev"), ("v1", first, "main"), (first, first, "main"), (first[:10], first, "main")]
    ):
        result = desk.change(latest, origin.url, target=desk.at(f"w{number}"), rev=rev)
        assert (head(desk, f"w{number}"), result.data["branch"]) == (sha, branch)
    assert "No revision matching" in desk.refusal(latest, origin.url, target=desk.at("n"), rev="none")
    assert "No revision matching" in desk.refusal(latest, origin.url, target=desk.at("n"), rev="abcdef01")
    assert "cannot be a revision" in desk.refusal(
        latest, origin.url, target=desk.at("n"), rev="--upload-pack=x"
    )


def test_the_local_branch_can_be_chosen_and_switched(desk: Desk, origin: Origin) -> None:
    desk.change(latest, origin.url, target=desk.at("w"), branch="mine")
    result = desk.change(latest, origin.url, target=desk.at("w"), branch="other")
    assert result.changes == {"local branch": {"old": "mine", "new": "other"}}
    tracked = ["git", "-C", desk.at("w"), "rev-parse", "--abbrev-ref", "other@{upstream}"]
    assert subprocess.run(tracked, capture_output=True, text=True, check=True).stdout == "origin/main\n"
    new = origin.commit("two")
    result = desk.change(latest, origin.url, target=desk.at("w"), branch="mine")
    assert result.changes["local branch"] == {"old": "other", "new": "mine"}
    assert head(desk) == new


def test_uncommitted_changes_are_lost_only_by_force(desk: Desk, origin: Origin) -> None:
    desk.change(latest, origin.url, target=desk.at("w"))
    desk.put("w/f", "my work")
    desk.put("w/untracked", "mine")
    assert "uncommitted changes" in desk.same(latest, origin.url, target=desk.at("w")).comment
    new = origin.commit("two")
    assert "uncommitted changes (f)" in desk.refusal(latest, origin.url, target=desk.at("w"))
    assert desk.foresee(latest, origin.url, target=desk.at("w")).outcome is Outcome.FAILED
    assert desk.text("w/f") == "my work"
    result = desk.change(latest, origin.url, target=desk.at("w"), force_reset="remote-changes")
    assert result.changes["forced update"] is True
    assert (head(desk), desk.text("w/f"), desk.text("w/untracked")) == (new, "two", "mine")
    desk.put("w/f", "more")
    desk.same(latest, origin.url, target=desk.at("w"), force_reset="remote-changes")
    assert desk.change(latest, origin.url, target=desk.at("w"), force_reset=True).changes == {
        "forced update": True
    }


def test_local_commits_are_lost_only_by_force(desk: Desk, origin: Origin) -> None:
    desk.change(latest, origin.url, target=desk.at("w"))
    desk.put("w/f", "local")
    origin.git("commit", "-q", "-am", "local", at=desk.at("w"))
    mine = head(desk)
    new = origin.commit("two")
    for test in (True, False):
        call = desk.foresee if test else desk.call
        result = call(latest, origin.url, target=desk.at("w"))
        assert result.outcome is Outcome.FAILED
        assert "fast-forward" in result.comment
    assert head(desk) == mine
    result = desk.change(latest, origin.url, target=desk.at("w"), force_reset=True)
    assert result.changes == {"revision": {"old": mine, "new": new}, "forced update": True}


def test_switching_branches_over_changes_needs_force(desk: Desk, origin: Origin) -> None:
    desk.change(latest, origin.url, target=desk.at("w"))
    desk.put("w/f", "my work")
    assert "force_checkout" in desk.refusal(latest, origin.url, target=desk.at("w"), branch="b")
    desk.change(latest, origin.url, target=desk.at("w"), branch="b", force_checkout=True)


def test_test_mode_leaves_no_trace_in_the_repository(desk: Desk, origin: Origin) -> None:
    desk.change(latest, origin.url, target=desk.at("w"))
    origin.commit("two")
    objects = {name for name in desk.names() if name.startswith("w/.git/")}
    desk.foresee(latest, origin.url, target=desk.at("w"))
    assert {name for name in desk.names() if name.startswith("w/.git/")} == objects


def test_tags_come_and_go_with_the_remote(desk: Desk, origin: Origin) -> None:
    desk.change(latest, origin.url, target=desk.at("w"))
    origin.git("tag", "v1")
    origin.git("tag", "x1")
    result = desk.change(latest, origin.url, target=desk.at("w"), refspec_tag="v*")
    assert result.changes == {"new_tags": ["v1"]}
    origin.git("tag", "-d", "v1")
    origin.git("tag", "-d", "x1")
    assert desk.same(latest, origin.url, target=desk.at("w"), sync_tags=False)
    assert desk.change(latest, origin.url, target=desk.at("w")).changes == {"deleted_tags": ["v1"]}


def test_a_moved_tag_is_replaced_only_by_force(desk: Desk, origin: Origin) -> None:
    origin.git("tag", "v1")
    desk.change(latest, origin.url, target=desk.at("w"))
    origin.git("tag", "-f", "-a", "-m", "again", "v1")
    desk.same(latest, origin.url, target=desk.at("w"))
    assert desk.change(latest, origin.url, target=desk.at("w"), force_fetch=True).changes == {
        "updated_tags": ["v1"]
    }


def test_a_directory_that_is_no_repository_is_kept(desk: Desk, origin: Origin) -> None:
    desk.put("w/precious")
    assert "force_clone" in desk.refusal(latest, origin.url, target=desk.at("w"))
    result = desk.change(latest, origin.url, target=desk.at("w"), force_clone=True)
    assert result.changes["forced clone"] is True
    assert not os.path.exists(desk.at("w/precious"))


def test_another_address_becomes_the_remote(desk: Desk, origin: Origin, tmp_path: Path) -> None:
    desk.change(latest, origin.url, target=desk.at("w"))
    origin.git("clone", "-q", "--bare", str(origin.path), str(tmp_path / "copy"))
    url = f"file://{tmp_path / 'copy'}"
    result = desk.change(latest, url, target=desk.at("w"))
    assert result.changes == {"remotes/origin": {"old": origin.url, "new": url}}


def test_a_shallow_copy_stays_shallow(desk: Desk, origin: Origin) -> None:
    for number in range(3):
        origin.commit(str(number))
    origin.git("tag", "v1")
    desk.change(latest, origin.url, target=desk.at("w"), depth=1)
    assert origin.git("rev-list", "--count", "HEAD", at=desk.at("w")) == "1"
    origin.commit("new")
    result = desk.call(latest, origin.url, target=desk.at("w"), depth=1, force_reset=True)
    assert result.outcome is Outcome.OK, result.comment
    assert desk.text("w/f") == "new"
    desk.change(latest, origin.url, target=desk.at("t"), depth=1, rev="v1")


def test_submodules_are_brought_along_and_kept(desk: Desk, origin: Origin, tmp_path: Path) -> None:
    other = Origin(tmp_path / "other")
    origin.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.url, "sub")
    origin.git("commit", "-q", "-m", "sub")
    desk.change(latest, origin.url, target=desk.at("w"), submodules=True)
    assert desk.text("w/sub/f") == "one"
    origin.git("submodule", "--quiet", "deinit", "-f", "--all", at=desk.at("w"))
    result = desk.change(latest, origin.url, target=desk.at("w"), submodules=True)
    assert result.changes == {"submodules": ["sub"]}


def test_bare_repositories_follow_all_branches(desk: Desk, origin: Origin) -> None:
    old = origin.git("rev-parse", "HEAD")
    desk.change(latest, origin.url, target=desk.at("b.git"), bare=True)
    new = origin.commit("two")
    result = desk.change(latest, origin.url, target=desk.at("b.git"), bare=True)
    assert result.changes == {"branch main": {"old": old, "new": new}}
    desk.change(latest, origin.url, target=desk.at("m.git"), mirror=True)
    origin.git("branch", "extra")
    desk.change(latest, origin.url, target=desk.at("m.git"), mirror=True)
    origin.git("branch", "-D", "extra")
    result = desk.change(latest, origin.url, target=desk.at("m.git"), mirror=True)
    assert result.changes == {"branch extra": {"old": new, "new": None}}
    assert "working copy" in desk.refusal(latest, origin.url, target=desk.at("b.git"))


def test_update_head_false_leaves_the_copy_where_it_is(desk: Desk, origin: Origin) -> None:
    desk.change(latest, origin.url, target=desk.at("w"))
    origin.commit("two")
    desk.same(latest, origin.url, target=desk.at("w"), update_head=False)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"target": "w"}, "not an absolute path"),
        ({}, "'target' is missing"),
        ({"target": "/w", "depth": 0}, "depth"),
        ({"target": "/w", "force_reset": "maybe"}, "remote-changes"),
        ({"target": "/w", "identity": "/none"}, "does not exist"),
        ({"target": "/w", "identity": "salt://key"}, "absolute path of a private key"),
        ({"target": "/w", "https_pass": "geheim"}, "https_user"),
        ({"target": "/w", "bare": True, "branch": "x"}, "bare"),
    ],
)
def test_bad_input_is_reported_plainly(
    desk: Desk, origin: Origin, args: dict[str, object], words: str
) -> None:
    comment = desk.refusal(latest, origin.url, **args)
    assert words in comment
    assert "geheim" not in comment


def test_a_remote_that_is_not_there_is_reported_without_its_password(desk: Desk, home: Path) -> None:
    result = desk.call(latest, "https://ada:geheim@127.0.0.1:1/x.git", target=desk.at("w"))
    assert result.outcome is Outcome.FAILED
    assert "cannot read the remote repository https://ada:***@127.0.0.1:1/x.git" in result.comment
    assert "geheim" not in repr(result)


def test_cloned_clones_once_and_never_updates(desk: Desk, origin: Origin) -> None:
    origin.git("branch", "dev")
    result = desk.change(cloned, origin.url, target=desk.at("w"))
    assert result.changes == {"new": f"{origin.url} => {desk.at('w')}"}
    origin.commit("two")
    desk.same(cloned, origin.url, target=desk.at("w"))
    result = desk.change(cloned, origin.url, target=desk.at("w"), branch="dev")
    assert result.changes == {"branch": {"old": "main", "new": "dev"}}
    assert "no remote of it" in desk.refusal(cloned, "file:///other", target=desk.at("w"))
    assert "none" in desk.refusal(cloned, origin.url, target=desk.at("w"), branch="none")
    assert "none" in desk.foresee(cloned, origin.url, target=desk.at("w"), branch="none").comment


def test_detached_is_at_one_revision_on_no_branch(desk: Desk, origin: Origin) -> None:
    first = origin.git("rev-parse", "HEAD")
    second = origin.commit("two")
    origin.git("tag", "v2")
    result = desk.change(detached, origin.url, target=desk.at("w"), rev=first)
    assert (result.data["revision"], result.data["branch"]) == (first, None)
    result = desk.change(detached, origin.url, target=desk.at("w"), rev="v2")
    assert result.changes == {"revision": {"old": first, "new": second}}
    third = origin.commit("three")
    desk.put("w/f", "mine")
    assert "force_checkout" in desk.refusal(detached, origin.url, target=desk.at("w"), rev=third)
    desk.change(detached, origin.url, target=desk.at("w"), rev="main", force_checkout=True)
    assert head(desk) == third
    desk.put("w/f", "mine")
    assert desk.change(detached, origin.url, target=desk.at("w"), rev=third, hard_reset=True).changes == {
        "forced update": True
    }
    comment = desk.refusal(detached, origin.url, target=desk.at("w"), rev="nope", fetch_remote=False)
    assert "fetch_remote" in comment


def test_present_makes_an_empty_repository(desk: Desk, home: Path) -> None:
    assert desk.change(present, desk.at("a.git")).changes == {"new": desk.at("a.git")}
    desk.change(present, desk.at("w"), bare=False, shared="group")
    desk.put("full/x")
    assert "force" in desk.refusal(present, desk.at("full"))
    assert desk.change(present, desk.at("full"), force=True).changes["forced init"] is True
    assert "separate_git_dir" in desk.refusal(present, desk.at("n"), separate_git_dir="/x")


def test_settings_are_set_and_unset(desk: Desk, home: Path) -> None:
    desk.call(present, desk.at("r"), bare=False)
    result = desk.change(config_set, "user.name", value="Ada", repo=desk.at("r"))
    assert result.changes == {"user.name": {"old": None, "new": ["Ada"]}}
    result = desk.change(config_set, "user.name", multivar=["a", "b"], repo=desk.at("r"))
    assert result.changes == {"user.name": {"old": ["Ada"], "new": ["a", "b"]}}
    desk.change(config_set, "core.bare", value=True, **{"global": True})
    assert "several values" in desk.refusal(config_unset, "user.name", repo=desk.at("r"))
    result = desk.change(config_unset, r"user\..*", repo=desk.at("r"), all=True)
    assert result.changes == {"user.name": {"old": ["a", "b"], "new": None}}
    desk.change(config_unset, "core.bare", **{"global": True})
    assert "not the name" in desk.refusal(config_set, "nodot", value=1, repo=desk.at("r"))
    assert "either 'repo'" in desk.refusal(config_set, "a.b", value=1)
    assert "not a git repository" in desk.refusal(config_set, "a.b", value=1, repo=str(desk.states))


def test_functions_tell_of_a_repository(desk: Desk, origin: Origin) -> None:
    ctx = desk.context()
    desk.call(latest, origin.url, target=desk.at("w"))
    assert functions.current_branch(ctx, desk.at("w")) == "main"
    assert functions.revision(ctx, desk.at("w")) == origin.git("rev-parse", "HEAD")
    assert functions.remotes(ctx, desk.at("w")) == {"origin": {"fetch": origin.url, "push": origin.url}}
    assert functions.ls_remote(ctx, remote=origin.url, ref="refs/heads/main") == {
        "refs/heads/main": origin.git("rev-parse", "HEAD")
    }
    assert functions.list_branches(ctx, desk.at("w")) == ["main"]
    assert functions.is_worktree(ctx, desk.at("w")) is False
    with pytest.raises(BadArgument, match="not a"):
        functions.revision(ctx, str(desk.states))


def test_what_an_earlier_state_may_make_is_no_failure_in_test_mode(desk: Desk, origin: Origin) -> None:
    new = {"new": f"{origin.url} => {desk.at('w')}"}
    for args in ({"identity": "/none"}, {"user": "saltern-t-none"}):
        foreseen = desk.foresee(latest, origin.url, target=desk.at("w"), **args)
        assert (foreseen.outcome, foreseen.changes) == (Outcome.WOULD_CHANGE, new)
        assert desk.call(latest, origin.url, target=desk.at("w"), **args).outcome is Outcome.FAILED
    foreseen = desk.foresee(config_set, "user.name", value="Ada", repo=desk.at("w"))
    desk.call(latest, origin.url, target=desk.at("w"))
    assert foreseen.changes == desk.call(config_set, "user.name", value="Ada", repo=desk.at("w")).changes


def test_present_never_takes_a_repository_of_the_other_kind(desk: Desk, origin: Origin) -> None:
    desk.call(latest, origin.url, target=desk.at("w"))
    for force in (False, True):
        assert "give bare: False" in desk.refusal(present, desk.at("w"), force=force)
    desk.call(present, desk.at("a.git"))
    assert "give bare: True" in desk.refusal(present, desk.at("a.git"), bare=False)


@needs_root()
def test_present_finds_a_repository_of_another_user(desk: Desk, home: Path) -> None:
    for name, bare in (("a.git", True), ("w", False)):
        desk.call(present, desk.at(name), bare=bare)
        for path in (desk.scratch / name, *(desk.scratch / name).rglob("*")):
            os.lchown(path, 1, 1)
        assert desk.same(present, desk.at(name), bare=bare).data["bare"] is bare


def test_a_clone_has_the_wanted_branch_only(desk: Desk, origin: Origin) -> None:
    origin.git("branch", "dev")
    desk.change(cloned, origin.url, target=desk.at("w"), branch="dev")
    assert functions.list_branches(desk.context(), desk.at("w")) == ["dev"]


def test_a_branch_that_was_fetched_needs_no_remote(desk: Desk, origin: Origin) -> None:
    origin.git("branch", "dev")
    desk.change(detached, origin.url, target=desk.at("w"), rev="dev", fetch_remote=False)
    desk.same(detached, origin.url, target=desk.at("w"), rev="dev", fetch_remote=False)
