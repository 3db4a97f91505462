"""Roots from git: one commit for a run, fetched by age, kept while the remote is away."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.e2e.command import Done, Place
from tests.sources.repository import Repository, http_server
from tests.sources.ssh_server import ssh_server

from saltern.language.diagnostics import OperationError
from saltern.sources.git import program
from saltern.sources.git.access import SSH, access_of
from saltern.sources.git.remote import Remote, parse_remote
from saltern.sources.git.roots import GitRoots


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "served" / "states.git")
    made.commit({"web.sls": "one: test.nop\n", "sub/db.sls": "db: test.nop\n"}, tag="v1")
    return made


def applied(place: Place, name: str = "web", **config: object) -> Done:
    given = {"git_update_interval": 0, **config}
    place.write({"etc/saltern.yaml": json.dumps(given)})
    return place.run("apply", name, "--file-root", str(place.states), "--out", "json")


def with_roots(place: Place, *roots: str, name: str = "web", **config: object) -> Done:
    place.write(
        {"etc/saltern.yaml": json.dumps({"git_update_interval": 0, "file_roots": {"base": roots}, **config})}
    )
    config_file = str(place.base / "etc/saltern.yaml")
    from tests.e2e.command import forked

    return forked(["apply", name, "--config", config_file], place.base)


def text_of(root: str, name: str = "web.sls") -> str:
    return Path(root, name).read_text()


def test_a_root_is_a_branch_a_tag_a_commit_a_directory_and_has_a_mount_point(
    tmp_path: Path, repository: Repository
) -> None:
    first = repository.git("rev-parse", "HEAD")
    repository.commit({"web.sls": "two: test.nop\n"})
    repository.commit({"web.sls": "other: test.nop\n"}, branch="feature/x")
    repository.git("checkout", "-q", "main")
    git = GitRoots(str(tmp_path / "cache"), max_age=0)
    url = f"git+{repository.url}"
    assert "two" in text_of(git.root(parse_remote(url)))
    assert "one" in text_of(git.root(parse_remote(f"{url}@v1")))
    assert "one" in text_of(git.root(parse_remote(f"{url}@{first}")))
    assert "other" in text_of(git.root(parse_remote(f"{url}@feature/x")))
    assert "db" in text_of(git.root(parse_remote(f"{url}#subdirectory=sub")), "db.sls")
    mounted = git.root(parse_remote(f"{url}@v1#subdirectory=sub&mountpoint=salt://formulas/db"))
    assert "db" in text_of(mounted, "formulas/db/db.sls")
    assert git.commits[f"{url}@v1"] == first


def test_what_is_kept_has_no_history_and_only_what_roots_need(tmp_path: Path, repository: Repository) -> None:
    for number in range(5):
        repository.commit({"web.sls": f"n{number}: test.nop\n"})
    repository.commit({"large": "x" * 100_000}, branch="unused")
    repository.git("checkout", "-q", "main")
    git = GitRoots(str(tmp_path / "cache"), max_age=0)
    git.root(parse_remote(f"git+{repository.url}@main"))
    (kept,) = (tmp_path / "cache").glob("*/git")
    counted = subprocess.run(
        ["git", "--git-dir", str(kept), "rev-list", "--all", "--count"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert counted.stdout.strip() == "1"


def test_a_run_applies_it_names_the_commit_and_uses_it_to_its_end(
    place: Place, repository: Repository
) -> None:
    commit = repository.git("rev-parse", "HEAD")
    done = with_roots(place, f"git+{repository.url}@main")
    assert done.code == 0, done.err
    assert f"git+{repository.url}@main is at {commit}" in done.out
    shown = place.run("show", "run", "last")
    assert commit in shown.out


def test_what_is_young_is_not_asked_again_and_update_asks(place: Place, repository: Repository) -> None:
    root = f"git+{repository.url}@main"
    assert "one" in with_roots(place, root, git_update_interval=3600).out
    repository.commit({"web.sls": "two: test.nop\n"})
    assert "one" in with_roots(place, root, git_update_interval=3600).out
    updated = place.run("sources", "update", "--out", "json", "--file-root", root)
    assert json.loads(updated.out)["local"] == {root: repository.git("rev-parse", "main")}
    assert "two" in with_roots(place, root, git_update_interval=3600).out


def test_while_the_remote_is_away_what_is_there_is_used_and_that_is_reported(
    place: Place, repository: Repository
) -> None:
    root = f"git+{repository.url}@main"
    assert with_roots(place, root).code == 0
    repository.path.rename(repository.path.parent / "moved")
    done = with_roots(place, root)
    assert done.code == 0
    assert "saltern.yaml:1: warning: " in done.err
    assert "git-away" in done.err
    assert "is at" in done.out


def test_a_tag_that_moves_is_reported_and_a_forced_push_is_followed(
    place: Place, repository: Repository
) -> None:
    root = f"git+{repository.url}@v1"
    assert with_roots(place, root).code == 0
    repository.commit({"web.sls": "moved: test.nop\n"}, tag="v1", force=True)
    done = with_roots(place, root)
    assert "moved" in done.out
    assert "git-tag-moved" in done.err
    assert "git-tag-moved" not in with_roots(place, root).err
    assert "moved" in with_roots(place, f"git+{repository.url}@main").out


@pytest.mark.parametrize(
    ("root", "code"),
    [
        ("git+file:///nowhere/at/all.git", "git-remote"),
        ("git+http://127.0.0.1:1/x.git@main", "git-remote"),
        ("git+URL@none", "git-reference"),
        ("git+URL@main#subdirectory=none", "git-reference"),
        ("git+URL@main#branch=x", "git-address"),
        ("git+ext::sh -c touch% x", "git-address"),
        ("git+URL@--upload-pack=touch", "git-address"),
        ("git+ssh://-oProxyCommand=x/y", "git-address"),
    ],
)
def test_what_cannot_be_had_is_a_sentence(place: Place, repository: Repository, root: str, code: str) -> None:
    config = place.base / "etc/saltern.yaml"
    written = root.replace("URL", repository.url)
    config.parent.mkdir(exist_ok=True)
    config.write_text(f"git_update_interval: 0\nfile_roots:\n  base:\n    - /srv\n    - '{written}'\n")
    from tests.e2e.command import forked

    done = forked(["apply", "web", "--config", str(config)], place.base)
    assert done.code not in (0, 70, 99)
    assert f"[{code}]" in done.err
    assert f"{config}:5: " in done.err
    flagged = place.run("apply", "web", "--file-root", written)
    assert f"[{code}]" in flagged.err
    assert "saltern.yaml:" not in flagged.err  # what a flag names is not there


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("file:///nowhere/at/all.git", "git-remote"),
        ("http://ann:s3cr3tly@127.0.0.1:1/x.git", "git-remote"),
        ("git@127.0.0.1:none/x.git", "git-remote"),
        ("ftp://127.0.0.1/x.git", "git-address"),
        ("https://127.0.0.1/x.git: [{colour: red}]", "git-address"),
        ("http://127.0.0.1/x.git: [{user: ann}, {password: s3cr3tly}]", "git-address"),
        ("ssh://127.0.0.1/x.git: [{passphrase: s3cr3tly}]", "git-address"),
    ],
)
def test_a_remote_of_gitfs_that_cannot_be_had_is_reported_by_the_line_that_names_it(
    place: Place, repository: Repository, entry: str, code: str
) -> None:
    config = place.base / "etc/saltern.yaml"
    config.parent.mkdir()
    config.write_text(f"gitfs_base: main\ngitfs_remotes:\n  - {repository.url}\n  # another\n  - {entry}\n")
    done = place.run("apply", "web")
    assert done.code not in (0, 70, 99)
    assert f"{config}:5: " in done.err, done.err
    assert f"[{code}]" in done.err
    assert "s3cr3tly" not in done.err + done.out


def test_a_password_is_asked_of_no_one_and_shown_nowhere(
    place: Place, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.git("config", "http.receivepack", "false")
    with http_server(repository.path.parent, "s3cr3tly") as port:
        address = f"127.0.0.1:{port}/states.git/.git"
        refused = with_roots(place, f"git+http://{address}@main")
        assert "[git-remote]" in refused.err
        wrong = with_roots(place, f"git+http://ann:wr0ngword@{address}@main")
        assert "[git-remote]" in wrong.err
        assert "wr0ngword" not in wrong.err + wrong.out
        given = with_roots(place, f"git+http://ann:s3cr3tly@{address}@main")
        assert given.code == 0, given.err
        assert "s3cr3tly" not in given.err + given.out
        words = [{"user": "ann"}, {"password": "s3cr3tly"}, {"base": "main"}]
        bare = with_roots(place, gitfs_remotes=[{f"http://{address}": words}])
        assert "without encryption" in bare.err
        assert "s3cr3tly" not in bare.err + bare.out
        remotes = [{f"http://{address}": [*words, {"insecure_auth": True}]}]
        by_salt = with_roots(place, gitfs_remotes=remotes)
        assert by_salt.code == 0, by_salt.err
        assert "s3cr3tly" not in by_salt.err + by_salt.out


def test_over_ssh_with_the_configuration_of_ssh(tmp_path: Path, place: Place, repository: Repository) -> None:
    with ssh_server(tmp_path / "ssh") as (port, command):
        user = os.environ.get("USER") or "root"
        root = f"git+ssh://{user}@127.0.0.1:{port}{repository.path}@main"
        place.write({"etc/saltern.yaml": json.dumps({"file_roots": {"base": [root]}})})
        done = place.run("sources", "--file-root", root, "--out", "json", env={"GIT_SSH_COMMAND": command})
        assert done.code == 0, done.err
        assert repository.git("rev-parse", "HEAD") in done.out
        other = place.run(
            "sources",
            "update",
            "--file-root",
            f"{root}x",
            env={"GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oUserKnownHostsFile=/dev/null"},
        )
        assert "[git-remote]" in other.err


def test_gitfs_remotes_give_environments_as_in_salt(place: Place, repository: Repository) -> None:
    repository.commit({"web.sls": "dev: test.nop\n"}, branch="dev")
    repository.commit({"sub/x.sls": "x: test.nop\n"}, branch="next")
    repository.git("checkout", "-q", "main")
    other = Repository(repository.path.parent / "formula.git")
    other.commit({"init.sls": "formula: test.nop\n"})
    remotes = [
        {repository.url: [{"base": "main"}, {"saltenv": [{"qa": [{"ref": "next"}, {"root": "sub"}]}]}]},
        {other.url: [{"all_saltenvs": "main"}, {"mountpoint": "salt://formula"}]},
    ]
    place.write(
        {"etc/saltern.yaml": json.dumps({"gitfs_remotes": remotes, "fileserver_backend": ["roots", "git"]})}
    )

    def states(env: str, name: str) -> list[str]:
        done = place.run("show", "low-sls", name, "--saltenv", env, "--out", "json")
        assert done.code == 0, (env, done.err)
        return [one["__id__"] for one in json.loads(done.out)["local"]]

    assert states("base", "web") == ["one"]
    assert states("dev", "web") == ["dev"]
    assert states("v1", "web") == ["one"]
    assert states("qa", "x") == ["x"]
    assert [states(env, "formula") for env in ("base", "dev", "v1", "qa")] == [["formula"]] * 4


def test_without_the_backend_gitfs_is_not_used(place: Place, repository: Repository) -> None:
    place.write(
        {"etc/saltern.yaml": json.dumps({"gitfs_remotes": [repository.url], "fileserver_backend": ["roots"]})}
    )
    assert place.run("apply", "web").code != 0


def test_an_untrusted_tree_asks_no_remote(place: Place, repository: Repository) -> None:
    place.write({"main.sls": "a: test.nop\n"})
    place.write(
        {
            "etc/saltern.yaml": json.dumps(
                {"gitfs_remotes": ["file:///nowhere"], "file_roots": {"base": ["git+file:///nowhere"]}}
            )
        }
    )
    done = place.run("check", "--untrusted", "main")
    assert "nowhere" not in done.err


def test_a_resumed_run_has_the_commit_it_began_with(place: Place, repository: Repository) -> None:
    kill = "kill -9 $(cut -d' ' -f4 /proc/$PPID/stat) $PPID"
    repository.commit(
        {
            "web.sls": f'breaks:\n  cmd.run: [{{name: "{kill}"}}, {{resume: skip}}]\n'
            f"{place.base}/made:\n  file.managed: [{{source: salt://text}}]\n",
            "text": "first\n",
        }
    )
    root = f"git+{repository.url}@main"
    place.write({"etc/saltern.yaml": json.dumps({"git_update_interval": 0, "file_roots": {"base": [root]}})})
    process = place.start("apply", "web", "--file-root", root)
    process.communicate(timeout=100)
    repository.commit({"text": "second\n"})
    done = place.run("resume", "--file-root", root)
    assert done.code == 0, done
    assert (place.base / "made").read_text() == "first\n"


def test_two_remotes_of_one_address_are_two_roots() -> None:
    one, other = (parse_remote(f"git+https://h/x.git@{ref}") for ref in ("a", "b"))
    assert one != other
    assert isinstance(one, Remote)


def test_a_commit_that_a_remote_does_not_have_is_a_sentence(tmp_path: Path, repository: Repository) -> None:
    git = GitRoots(str(tmp_path / "cache"), max_age=0)
    with pytest.raises(OperationError):
        git.root(parse_remote(f"git+{repository.url}@{'0' * 40}"))


@pytest.mark.parametrize(
    "address",
    ["git://127.0.0.1:PORT/x.git", "http://127.0.0.1:PORT/x.git", "ssh://root@127.0.0.1:PORT/x.git"],
)
def test_a_remote_that_hangs_is_a_sentence_and_leaves_no_process(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "LIMIT", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = address.replace("PORT", str(silent.getsockname()[1]))
        with pytest.raises(OperationError, match="it did not respond within 2 seconds"):
            GitRoots(str(tmp_path / "cache"), max_age=0).root(parse_remote(f"git+{url}@main"))
        end = time.monotonic() + 20  # a process that was killed is gone a moment later
        while of_it := [one for one in Path("/proc").glob("[0-9]*/cmdline") if url.encode() in _read(one)]:
            assert time.monotonic() < end, of_it
            time.sleep(0.05)


QUICK = SSH.replace("ConnectTimeout=30", "ConnectTimeout=2").replace("AliveInterval=15", "AliveInterval=1")


def test_an_ssh_server_that_never_answers_is_given_up_by_ssh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_SSH_COMMAND", f"{QUICK} -F /dev/null")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(OperationError, match=f"cannot be read: Connection to .* port {port} timed out"):
            GitRoots(str(tmp_path / "cache"), max_age=0).root(parse_remote(f"git+ssh://127.0.0.1:{port}/x"))


def test_an_ssh_server_that_no_longer_answers_is_given_up_by_ssh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stops in the middle: after the login, before git has a word."""
    with ssh_server(tmp_path / "ssh") as (port, command):
        allowed = tmp_path / "ssh" / "authorized"
        stop = f"echo $PPID > {tmp_path}/server; kill -STOP $PPID; sleep 1000"
        allowed.write_text(f'command="{stop}" {allowed.read_text()}')
        monkeypatch.setenv("GIT_SSH_COMMAND", f"{QUICK} {command.removeprefix('ssh ')}")
        root = f"git+ssh://{os.environ.get('USER') or 'root'}@127.0.0.1:{port}/x"
        try:
            with pytest.raises(OperationError, match=r"Timeout, server 127\.0\.0\.1 not responding"):
                GitRoots(str(tmp_path / "cache"), max_age=0).root(parse_remote(root))
        finally:
            os.kill(int((tmp_path / "server").read_text()), signal.SIGKILL)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_a_key_of_a_remote_is_used_as_carefully_as_those_of_the_user() -> None:
    (_, command), *_ = access_of({"privkey": "/keys/a b"}, "ssh://h/x.git")
    assert command.startswith(SSH)
    assert "BatchMode=yes" in SSH
    assert command.endswith("-i '/keys/a b'")


@pytest.mark.parametrize("size", ["64k", "1m", "3m"])  # for the repository, its objects, its files
@pytest.mark.parametrize("option", ["file_roots", "gitfs_remotes"])
def test_a_repository_that_is_too_large_for_the_disk_is_a_sentence_with_its_line(
    tmp_path: Path, repository: Repository, size: str, option: str
) -> None:
    noise = "".join(f"{number * 7919 % 1000003:x}\n" for number in range(400_000))
    repository.commit({"large": noise})
    disk = tmp_path / "disk"
    disk.mkdir()
    url = f"git+{repository.url}@main"
    roots = {
        "file_roots": f"{{base: [{url}]}}",
        "gitfs_remotes": f"[{{'{repository.url}': [{{base: main}}]}}]",
    }
    config = tmp_path / "saltern.yaml"
    config.write_text(f"cachedir: {disk}\n{option}: {roots[option]}\n")
    script = f'mount -t tmpfs -o size={size} tmpfs {disk} && "$@"; code=$?; ls -R {disk}; exit $code'
    command = [sys.executable, "-m", "saltern", "show", "sls", "web", "--config", str(config)]
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *command],
        env={**os.environ, "SALTERN_STATE_DIR": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        check=False,
    )
    if "mount:" in done.stderr or "unshare:" in done.stderr:
        pytest.skip("this user cannot mount")
    assert done.returncode == 1, done
    assert f"{config}:2: " in done.stderr
    assert repository.url in done.stderr
    assert f"does not fit on the disk: {disk}/git has no room for it" in done.stderr
    assert "[git-disk-full]" in done.stderr
    assert ".new" not in done.stdout, "what was begun stays there"
