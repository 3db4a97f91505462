"""The functions of ``git`` that change a repository, with a real one and a real remote."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.modules.bench import Bench

from saltern.modules.api.params import BadArgument
from saltern.modules.states import test as any_state

Call = Callable[..., object]


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A working copy with one commit, of a remote that has it, too."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    (tmp_path / "gitconfig").write_text(
        "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
    )
    remote, copy = tmp_path / "remote.git", tmp_path / "copy"
    subprocess.run(["git", "init", "-q", "--bare", remote], check=True)
    subprocess.run(["git", "clone", "-q", remote, copy], check=True, capture_output=True)
    (copy / "a").write_text("one\n")
    for words in (["add", "a"], ["commit", "-qm", "first"], ["push", "-q", "origin", "main"]):
        subprocess.run(["git", "-C", copy, *words], check=True)
    return str(copy)


@pytest.fixture
def git(tmp_path: Path, copy: str) -> Call:
    """``git("commit", …)``: a function, called with the working copy."""
    salt = Bench(tmp_path, any_state).salt
    return lambda name, *args, **kwargs: salt[f"git.{name}"](copy, *args, **kwargs)


def test_files_are_added_committed_and_pushed(git: Call, copy: str) -> None:
    Path(copy, "b").write_text("two\n")
    assert "add 'b'" in str(git("add", "b"))
    assert "second" in str(git("commit", "second"))
    assert git("push", "origin", "main")
    refs = Bench(Path(copy).parent, any_state).salt["git.remote_refs"](str(Path(copy).parent / "remote.git"))
    assert isinstance(refs, dict) and refs["refs/heads/main"] == git("revision")
    assert git("rm", "b") == "rm 'b'"
    Path(copy, "a").write_text("changed\n")
    git("discard_local_changes", "a")
    assert Path(copy, "a").read_text() == "one\n"


def test_what_was_changed_is_put_aside_and_taken_back(git: Call, copy: str) -> None:
    Path(copy, "a").write_text("changed\n")
    git("stash")
    assert Path(copy, "a").read_text() == "one\n"
    assert "stash@{0}" in str(git("stash", "list"))
    git("stash", "pop")
    assert "+changed" in str(git("diff"))
    assert "+changed" in str(git("diff", "HEAD", paths=["a"]))
    assert str(git("diff", f"{copy}/a", "/etc/hostname", no_index=True)).startswith("diff --git")


def test_branches_and_tags_come_and_go(git: Call, copy: str, tmp_path: Path) -> None:
    assert git("branch", "next") is True
    assert git("list_branches") == ["main", "next"]
    git("tag", "v1", message="the first")
    assert git("list_tags") == ["v1"]
    assert git("tag", "v1", opts="-d")
    assert git("symbolic_ref", "HEAD") == "refs/heads/main"
    git("commit", "third", opts="--allow-empty")
    assert git("merge_base", "next,main", is_ancestor=True) is True
    assert git("merge_base", ["main", "next"]) == git("revision", "next")
    assert git("rebase", "next")
    assert isinstance(git("merge_tree", "main", "next"), str)
    assert git("archive", str(tmp_path / "it.tar.gz"), prefix="it/") is True
    listed = subprocess.run(
        ["tar", "tzf", tmp_path / "it.tar.gz"], capture_output=True, text=True, check=True
    )
    assert "it/a" in listed.stdout.split()


def test_settings_are_set_found_and_forgotten(copy: str, tmp_path: Path) -> None:
    salt = Bench(tmp_path, any_state).salt
    assert salt["git.config_set"]("core.editor", "vim", cwd=copy) == ["vim"]
    assert salt["git.config_set"]("a.b", multivar="x,y", cwd=copy) == ["x", "y"]
    assert salt["git.config_set"]("a.b", "z", cwd=copy, add=True) == ["x", "y", "z"]
    assert salt["git.config_get_regexp"]("^a[.]", cwd=copy) == {"a.b": ["x", "y", "z"]}
    assert salt["git.config_unset"]("a.b", cwd=copy, all=True) is True
    assert salt["git.config_get"]("a.b", cwd=copy) is None
    assert salt["git.config_set"]("c.d", "1", **{"global": True}) == ["1"]
    assert "[c]" in (tmp_path / "gitconfig").read_text()


def test_further_working_trees_come_and_go(git: Call, copy: str, tmp_path: Path) -> None:
    more = str(tmp_path / "more")
    git("worktree_add", more)
    told = git("list_worktrees")
    assert isinstance(told, dict) and told[more]["branch"] == "more"
    assert Bench(tmp_path, any_state).salt["git.worktree_rm"](more) is True
    assert git("list_worktrees") == {}
    stale = git("list_worktrees", stale=True)
    assert isinstance(stale, dict) and list(stale) == [more]
    assert "more" in str(git("worktree_prune"))
    assert git("list_worktrees", all=True) == {}


def test_submodules_are_driven(git: Call) -> None:
    assert git("submodule", "status") == ""


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "why"),
    [
        ("add", ([],), {}, "at least one file"),
        ("tag", ("x",), {"opts": "-m no"}, "given in 'message'"),
        ("push", (), {}, "a remote and a ref"),
        ("rebase", ("main",), {"opts": "-i"}, "cannot ask"),
        ("stash", ("explode",), {}, "cannot 'explode'"),
        ("submodule", ("--upload-pack=x",), {}, "no command"),
        ("symbolic_ref", ("HEAD", "x"), {"opts": "-d"}, "cannot be given a value"),
        ("merge_base", ("main",), {"is_ancestor": True}, "two commits"),
        ("merge_base", ("main",), {"octopus": True, "independent": True}, "only one of"),
        ("diff", ("a",), {"no_index": True}, "two files"),
        ("worktree_add", ("/tmp/x",), {"branch": "x", "detach": True}, "only one of"),
    ],
)
def test_bad_input_is_reported(
    git: Call, name: str, args: tuple[object, ...], kwargs: dict[str, object], why: str
) -> None:
    with pytest.raises(BadArgument, match=why):
        git(name, *args, **kwargs)


def test_settings_need_a_place_and_one_kind_of_value(tmp_path: Path, copy: str) -> None:
    salt = Bench(tmp_path, any_state).salt
    with pytest.raises(BadArgument, match="give cwd"):
        salt["git.config_set"]("a.b", "c")
    with pytest.raises(BadArgument, match="not both"):
        salt["git.config_set"]("a.b", cwd=copy)
    with pytest.raises(BadArgument, match="not a git worktree"):
        salt["git.worktree_rm"](copy)
