"""Every setting of a remote of ``gitfs_remotes``: followed as by Salt's own gitfs, or refused by its name."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sources.repository import Repository
from tests.sources.salt_gitfs import SALT, by_salt

from saltern.language.diagnostics import OperationError
from saltern.sources.git.environments import environments
from saltern.sources.git.gitfs import SETTINGS, gitfs_remotes
from saltern.sources.git.refspecs import Refs, read_refspecs, tracked_refs
from saltern.sources.git.roots import GitRoots

ENVS = ("base", "dev", "qa", "v1", "main", "feature/x", "none")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Repository]:
    folder = tmp_path_factory.mktemp("served")
    states = Repository(folder / "states.git")
    states.commit({"web.sls": "a: test.nop\n", "sub/db.sls": "d: test.nop\n", "sub/deep/x": "x"}, tag="v1")
    states.commit({"dev.sls": "a: test.nop\n"}, branch="dev")
    states.commit({"dev.sls": "b: test.nop\n"}, branch="feature/x")
    states.git("rm", "-rq", "sub")
    states.commit({"bare.sls": "a: test.nop\n"}, branch="pages")
    states.git("checkout", "-q", "main")
    states.git("branch", "odd#name,with(signs)")  # no configuration can name it
    states.git("update-ref", "refs/pull/7/head", "dev")
    formula = Repository(folder / "formula.git")
    formula.commit({"init.sls": "f: test.nop\n"})
    return {"STATES": states, "FORMULA": formula}


Config = dict[str, Any]
HEADS, TAGS = "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"
CASES: dict[str, Config] = {
    "base": {"gitfs_base": "main", "gitfs_remotes": ["STATES"]},
    "no such base": {"gitfs_remotes": ["STATES"]},
    "base of a remote": {"gitfs_remotes": [{"STATES": [{"base": "dev"}]}]},
    "a tag is base": {"gitfs_remotes": [{"STATES": [{"base": "v1"}]}]},
    "a commit is base": {"gitfs_remotes": [{"STATES": [{"base": "COMMIT"}]}]},
    "root": {"gitfs_base": "main", "gitfs_root": "sub", "gitfs_remotes": ["STATES"]},
    "own root": {"gitfs_base": "main", "gitfs_remotes": [{"STATES": [{"root": "sub"}]}, "FORMULA"]},
    "mountpoint": {"gitfs_base": "main", "gitfs_mountpoint": "salt://here", "gitfs_remotes": ["FORMULA"]},
    "saltenv": {
        "gitfs_base": "main",
        "gitfs_remotes": [{"STATES": [{"saltenv": [{"qa": [{"ref": "dev"}, {"root": "sub"}]}]}]}],
    },
    "saltenv with a mountpoint": {
        "gitfs_base": "main",
        "gitfs_remotes": [{"STATES": [{"saltenv": [{"dev": [{"mountpoint": "salt://m"}]}]}]}],
    },
    "saltenv for all": {
        "gitfs_base": "main",
        "gitfs_saltenv": [{"qa": [{"ref": "v1"}]}, {"dev": [{"root": "sub"}]}],
        "gitfs_remotes": [{"STATES": [{"saltenv": [{"qa": [{"root": "sub"}]}]}]}],
    },
    "saltenv base": {
        "gitfs_base": "main",
        "gitfs_remotes": [{"STATES": [{"saltenv": [{"base": [{"ref": "dev"}]}]}]}],
    },
    "only branches": {"gitfs_base": "main", "gitfs_ref_types": ["branch"], "gitfs_remotes": ["STATES"]},
    "only tags": {"gitfs_base": "main", "gitfs_ref_types": ["tag"], "gitfs_remotes": ["STATES"]},
    "not mapped": {
        "gitfs_base": "main",
        "gitfs_disable_saltenv_mapping": True,
        "gitfs_remotes": [{"STATES": [{"saltenv": [{"qa": [{"ref": "dev"}]}]}]}],
    },
    "allowed": {"gitfs_base": "main", "gitfs_saltenv_whitelist": ["base", "d*"], "gitfs_remotes": ["STATES"]},
    "refused": {
        "gitfs_base": "main",
        "gitfs_saltenv_blacklist": [r"v\d+", "dev"],
        "gitfs_remotes": ["STATES"],
    },
    "refspecs": {
        "gitfs_base": "main",
        "gitfs_remotes": [
            {
                "STATES": [
                    {"refspecs": [HEADS, TAGS, "+refs/pull/*/head:refs/remotes/origin/qa*"]},
                    {"saltenv": [{"qa": [{"ref": "qa7"}]}]},
                ]
            }
        ],
    },
    "two remotes": {"gitfs_base": "main", "gitfs_remotes": ["FORMULA", "STATES"]},
    "depth, name and proxy": {
        "gitfs_base": "main",
        "gitfs_depth": 3,
        "gitfs_remotes": [{"STATES": [{"name": "mine"}, {"proxy": ""}, {"depth": 2}, {"ssl_verify": True}]}],
    },
}


def configured(config: Any, served: Mapping[str, Repository]) -> Any:
    if isinstance(config, dict):
        return {configured(key, served): configured(value, served) for key, value in config.items()}
    if isinstance(config, list):
        return [configured(one, served) for one in config]
    if config == "COMMIT":
        return served["STATES"].git("rev-parse", "dev")
    return served[config].url if config in served else config


def files_of(roots: Mapping[str, list[str]], env: str) -> list[str]:
    names = set()
    for root in roots.get(env) or roots.get("__env__", []):
        for folder, _, files in os.walk(root, followlinks=True):
            names |= {os.path.relpath(os.path.join(folder, name), root) for name in files}
    return sorted(names)


def ours(config: Config, cache: Path) -> dict[str, list[str]]:
    roots = GitRoots(str(cache), max_age=0).gitfs(gitfs_remotes(config), [])
    return {env: files_of(roots, env) for env in ENVS}


@pytest.mark.xdist_group("gitfs")
def test_environments_have_the_files_that_they_have_in_salt(
    served: dict[str, Repository], tmp_path: Path
) -> None:
    made = {name: configured(config, served) for name, config in CASES.items()}
    theirs = by_salt([(config, ENVS) for config in made.values()], tmp_path / "salt")
    for (name, config), answer in zip(made.items(), theirs, strict=True):
        assert ours(config, tmp_path / "ours") == answer["files"], name


def test_one_branch_for_all_environments_and_a_fallback_for_those_that_are_missing(
    served: dict[str, Repository], tmp_path: Path
) -> None:
    """Salt's provider for the system's git has these wrong; its documentation has them so."""
    every = configured({"gitfs_remotes": [{"FORMULA": [{"all_saltenvs": "main"}]}]}, served)
    assert set(map(tuple, ours(every, tmp_path).values())) == {("init.sls",)}
    rescue: Config = {"gitfs_base": "main", "gitfs_remotes": [{"STATES": [{"fallback": "dev"}]}]}
    found = ours(configured(rescue, served), tmp_path)
    assert found["none"] == found["dev"]
    assert "dev.sls" not in found["base"]
    kept = [{"STATES": [{"fallback": "dev"}, {"saltenv_blacklist": ["none"]}]}]
    assert not ours(configured({"gitfs_base": "main", "gitfs_remotes": kept}, served), tmp_path)["none"]


def test_an_entry_for_the_same_address_has_its_own_branches(
    served: dict[str, Repository], tmp_path: Path
) -> None:
    one = {"STATES": [{"saltenv_whitelist": "base"}, {"base": "main"}]}
    other = {"STATES": [{"saltenv_whitelist": "dev"}, {"mountpoint": "second"}]}
    found = ours(configured({"gitfs_remotes": [one, other]}, served), tmp_path)
    assert "web.sls" in found["base"]
    assert "second/dev.sls" in found["dev"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"passphrase": "s3cr3tly"}, "passphrase cannot be used"),
        ({"user": "ann", "password": "s3cr3tly"}, "without encryption"),
        ({"ref_types": ["branch", "commit"]}, "ref_types can be branch, tag, sha, not commit"),
        ({"refspecs": ["+refs/heads/*:refs/elsewhere/*"]}, "leads neither to"),
        ({"refspecs": ["refs/heads/main"]}, "leads neither to"),
        ({"update_interval": "soon"}, "update_interval needs a number"),
        ({"saltenv": [{"qa": [{"branch": "x"}]}]}, "no setting of a remote is called 'branch'"),
        ({"mount_point": "x"}, "no setting of a remote is called 'mount_point'; did you mean 'mountpoint'?"),
        ({"root": "../.."}, "leads out of the repository"),
    ],
)
def test_what_cannot_be_followed_is_refused_by_its_name(words: Config, why: str) -> None:
    with pytest.raises(OperationError) as caught:
        gitfs_remotes({"gitfs_remotes": [{"http://h/x.git": [{key: one} for key, one in words.items()]}]})
    assert why in str(caught.value)
    assert "s3cr3tly" not in str(caught.value)


def test_the_guide_has_every_setting_with_its_meaning() -> None:
    guide = Path(__file__).parents[2] / "docs" / "guides" / "git-sources.md"
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", guide.read_text(encoding="utf-8"), re.MULTILINE)
    assert dict(rows) == SETTINGS


def test_every_setting_that_salt_documents_is_known() -> None:
    program = (
        "import json\nfrom salt.fileserver import gitfs\nfrom salt.utils.gitfs import AUTH_PARAMS\n"
        "print(json.dumps([*gitfs.PER_REMOTE_OVERRIDES, *gitfs.PER_REMOTE_ONLY, *AUTH_PARAMS]))"
    )
    env = {**os.environ, "PYTHONPATH": str(SALT)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True, timeout=120
    )
    assert set(json.loads(done.stdout.splitlines()[-1])) == set(SETTINGS)


def test_a_remote_of_many_branches_is_asked_once_and_holds_few_files_open(tmp_path: Path) -> None:
    many = Repository(tmp_path / "many.git")
    many.commit({"web.sls": "a: test.nop\n"})
    head = many.git("rev-parse", "HEAD")
    rows = "".join(f"create refs/heads/b{number} {head}\n" for number in range(1500))
    subprocess.run(("git", "update-ref", "--stdin"), cwd=many.path, input=rows, text=True, check=True)
    config: Config = {"gitfs_base": "main", "gitfs_remotes": [many.url]}
    first = GitRoots(str(tmp_path / "cache")).gitfs(gitfs_remotes(config), [])
    assert len(first) == 1501
    assert len({root for roots in first.values() for root in roots}) == 1  # by commit, not by branch
    programs = tmp_path / "bin"
    programs.mkdir()
    real = shutil.which("git")
    (programs / "git").write_text(f'#!/bin/sh\necho x >> {tmp_path}/calls\nexec {real} "$@"\n')
    (programs / "git").chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        assert GitRoots(str(tmp_path / "cache")).gitfs(gitfs_remotes(config), []) == first
    assert len((tmp_path / "calls").read_text().split()) <= 3


words = st.text("abc/", min_size=1, max_size=6).map(lambda text: text.strip("/") or "a")


@given(st.dictionaries(words, words, max_size=6), words)
def test_refspecs_map_references_as_git_does(refs: dict[str, str], to: str) -> None:
    listed = {f"refs/pull/{name}/head": commit for name, commit in refs.items()}
    specs = read_refspecs([f"+refs/pull/*/head:refs/remotes/origin/{to}/*"])
    found = tracked_refs({**listed, "refs/heads/x": "1"}, "refs/heads/x", specs)
    assert found.commits == {f"refs/heads/{to}/{name}": commit for name, commit in refs.items()}
    assert {found.sources[name] for name in found.commits} == set(listed)
    assert not found.head


@given(
    st.sets(words, max_size=6), words, st.booleans(), st.lists(words, max_size=2), st.lists(words, max_size=2)
)
def test_an_environment_has_a_branch_of_the_remote_that_is_allowed(
    branches: set[str], base: str, mapped: bool, allowed: list[str], refused: list[str]
) -> None:
    own: list[Config] = [{"base": base}, {"disable_saltenv_mapping": not mapped}]
    own += [{"saltenv_whitelist": allowed}, {"saltenv_blacklist": refused}]
    (one,) = gitfs_remotes({"gitfs_remotes": [{"https://h/x.git": own}]})
    found = environments(one, Refs({f"refs/heads/{name}": "1" for name in branches}), ["other"])
    for env, remote in found.items():
        assert remote.ref in branches
        assert env == "base" or (mapped and env == remote.ref)
        assert env not in refused
        assert not allowed or env in allowed
    assert ("base" in found) == (
        base in branches and "base" not in refused and (not allowed or "base" in allowed)
    )
