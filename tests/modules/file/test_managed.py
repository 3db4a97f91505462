"""``file.managed``: content, mode, owner; in one step, and never through a planted link."""

from __future__ import annotations

import hashlib
import http.server
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.modules.bench import needs_root

from saltern.language.result import Outcome
from saltern.modules.api.context import Context
from saltern.modules.states.file.accumulated import accumulated
from saltern.modules.states.file.managed import managed

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk

ROOT = os.geteuid() == 0
NOBODY = 65534


def test_a_new_file_gets_content_mode_and_facts(desk: Desk) -> None:
    result = desk.change(managed, desk.at("f"), contents="x", mode="0600")
    assert result.changes == {"diff": "New file", "mode": "0600"}
    assert result.comment == f"File {desk.at('f')} updated"
    assert (desk.text("f"), desk.mode("f")) == ("x\n", 0o600)
    assert result.data["sha256"] == hashlib.sha256(b"x\n").hexdigest()
    assert (result.data["size"], result.data["mode"], result.data["path"]) == (2, "0600", desk.at("f"))
    assert desk.names() == ["f"]


def test_the_umask_decides_the_mode_of_a_new_file(desk: Desk) -> None:
    old = os.umask(0o027)
    try:
        desk.change(managed, desk.at("f"), contents="x")
    finally:
        os.umask(old)
    assert desk.mode("f") == 0o640


def test_a_changed_file_shows_the_difference_and_keeps_its_mode(desk: Desk) -> None:
    desk.put("f", "a\nb\n", mode=0o640)
    result = desk.change(managed, desk.at("f"), contents="a\nc")
    assert result.changes == {"diff": "--- \n+++ \n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"}
    assert desk.mode("f") == 0o640


@pytest.mark.skipif(not ROOT, reason="needs root")
def test_a_changed_file_keeps_its_owner(desk: Desk) -> None:
    os.chown(desk.put("f", "old"), NOBODY, 12345)
    desk.change(managed, desk.at("f"), contents="new")
    found = os.stat(desk.at("f"))
    assert (found.st_uid, found.st_gid) == (NOBODY, 12345)


@pytest.mark.skipif(not ROOT, reason="needs root")
def test_owner_and_mode_alone_leave_the_content(desk: Desk) -> None:
    inode = os.stat(desk.put("f", "mine")).st_ino
    result = desk.change(managed, desk.at("f"), user="daemon", group="daemon", mode="0644")
    assert result.changes == {"user": "daemon", "group": "daemon"}
    assert (desk.text("f"), os.stat(desk.at("f")).st_ino) == ("mine", inode)
    assert result.data["user"] == "daemon"


def test_hidden_changes_stay_hidden(desk: Desk) -> None:
    desk.put("f", "secret")
    result = desk.change(managed, desk.at("f"), contents="other", show_changes=False)
    assert result.changes == {"diff": "<show_changes=False>"}


@pytest.mark.parametrize(
    ("contents", "written"),
    [
        (["a", "", "b"], "a\nb\n"),
        (["a\n\n", "b"], "a\n\nb\n"),
        (5, "5\n"),
        (True, "True\n"),
        ("", ""),
        ("a\n", "a\n"),
    ],
)
def test_contents_of_any_kind_become_text(desk: Desk, contents: object, written: str) -> None:
    desk.change(managed, desk.at("f"), contents=contents)
    assert desk.text("f") == written


def test_contents_come_from_pillar_and_grains(desk: Desk) -> None:
    desk.pillar["keys"] = {"ssh": "k1\nk2"}
    desk.grains["id"] = "here"
    desk.change(managed, desk.at("p"), contents_pillar="keys:ssh")
    desk.change(managed, desk.at("g"), contents_grains="id", contents_newline=False)
    assert (desk.text("p"), desk.text("g")) == ("k1\nk2\n", "here")
    assert "does not exist" in desk.refusal(managed, desk.at("n"), contents_pillar="keys:gpg")


@pytest.mark.parametrize("contents", ["a\n", "a\n\n", "a", ["a"]])
def test_without_contents_newline_the_text_ends_in_none(desk: Desk, contents: object) -> None:
    desk.change(managed, desk.at("f"), contents=contents, contents_newline=False)
    assert desk.text("f") == "a"


def test_a_template_knows_the_file_it_becomes_and_context_wins(desk: Desk) -> None:
    desk.source("t", "{{ name }} {{ mode }} {{ user }} {{ source }}")
    desk.change(managed, desk.at("f"), source="salt://t", template="jinja", mode="0640")
    assert desk.text("f") == f"{desk.at('f')} 0640 None salt://t"
    desk.change(
        managed, desk.at("f"), source="salt://t", template="jinja", context={"name": "n", "source": "s"}
    )
    assert desk.text("f") == "n None None s"


def test_a_source_that_is_no_text_is_taken_as_it_is(desk: Desk) -> None:
    data = b"\x00\xff{{ 1 }}"
    with open(os.path.join(os.path.dirname(desk.put("x", "")), "raw"), "wb") as file:
        file.write(data)
    desk.change(managed, desk.at("f"), source=desk.at("raw"), template="jinja")
    with open(desk.at("f"), "rb") as file:
        assert file.read() == data


def test_no_content_at_all_makes_an_empty_file_and_leaves_an_old_one(desk: Desk) -> None:
    desk.change(managed, desk.at("f"))
    desk.put("g", "kept")
    desk.same(managed, desk.at("g"))
    assert (desk.text("f"), desk.text("g")) == ("", "kept")


def test_the_first_source_that_exists_is_taken(desk: Desk) -> None:
    desk.source("b", "second\n")
    desk.change(managed, desk.at("f"), source=["salt://a", "salt://b", "/nowhere"])
    assert desk.text("f") == "second\n"
    assert "none of these" in desk.refusal(managed, desk.at("g"), source=["salt://x", "/nowhere"])


def test_a_missing_source_is_named_with_its_environment(desk: Desk) -> None:
    comment = desk.refusal(managed, desk.at("f"), source="salt://none?saltenv=other")
    assert (
        comment == "Unable to manage file: Source file salt://none?saltenv=other not found in saltenv 'other'"
    )


def test_sources_may_be_local_and_keep_their_mode(desk: Desk) -> None:
    desk.put("src", "hello", mode=0o750)
    desk.change(managed, desk.at("f"), source=desk.at("src"), mode="keep")
    desk.change(managed, desk.at("g"), source=f"file://{desk.at('src')}")
    assert (desk.text("f"), desk.mode("f"), desk.mode("g")) == ("hello", 0o750, 0o644)


def test_a_checksum_is_checked_in_every_form(desk: Desk) -> None:
    digest = hashlib.sha256(b"hello").hexdigest()
    path = desk.put("src", "hello")
    sums = desk.source("sums", f"{'0' * 64}  other\n{digest}  src\n")
    for number, form in enumerate((digest, f"sha256={digest}", sums)):
        desk.change(managed, desk.at(f"f{number}"), source=path, source_hash=form)
    desk.change(managed, desk.at("g"), source=[{path: hashlib.md5(b"hello").hexdigest()}])
    assert "is required" in desk.refusal(managed, desk.at("n"), source=path, source_hash="0" * 64)
    assert "neither a checksum" in desk.refusal(managed, desk.at("n"), source=path, source_hash="nonsense")


def test_templates_see_context_over_defaults_and_what_was_accumulated(desk: Desk) -> None:
    url = desk.source("t.j", "{{ port }} {{ host }} {{ accumulator['hosts']|join(',') }}\n")
    desk.call(accumulated, "hosts", filename=desk.at("f"), text=["a", "b"])
    desk.call(accumulated, "hosts", filename=desk.at("f"), text="c")
    desk.change(
        managed,
        desk.at("f"),
        source=url,
        template="jinja",
        context={"port": 80},
        defaults={"port": 1, "host": "h"},
    )
    assert desk.text("f") == "80 h a,b,c\n"


def test_a_template_that_fails_changes_nothing(desk: Desk) -> None:
    url = desk.source("t.j", "{{ missing.thing }}")
    assert "missing" in desk.refusal(managed, desk.at("f"), source=url, template="jinja")


def test_check_cmd_sees_the_finished_file_before_it_is_in_place(desk: Desk) -> None:
    desk.change(managed, desk.at("good"), contents="valid", check_cmd="grep -q valid")
    desk.put("bad", "old")
    comment = desk.refusal(managed, desk.at("bad"), contents="broken", check_cmd="echo no good;grep -q valid")
    assert comment == "check_cmd execution failed\nno good"
    assert desk.text("bad") == "old"


def test_check_cmd_may_care_where_the_file_lies(desk: Desk) -> None:
    desk.put("tmp/keep", "")
    command = "case $0 in check_cmd) ;; esac; test -f"
    desk.change(
        managed, desk.at("f"), contents="x", check_cmd=command, tmp_dir=desk.at("tmp"), tmp_ext=".conf"
    )
    assert desk.names() == ["f", "tmp", "tmp/keep"]


def test_makedirs_makes_what_is_missing(desk: Desk) -> None:
    desk.change(managed, desk.at("a/b/f"), contents="x", makedirs=True, mode="0640")
    assert (desk.mode("a"), desk.mode("a/b")) == (0o750, 0o750)
    desk.change(managed, desk.at("c/f"), contents="x", makedirs=True, dir_mode="0700")
    assert desk.mode("c") == 0o700


def test_a_missing_directory_or_user_fails_a_run_and_is_noted_in_a_test(desk: Desk) -> None:
    for name, args in (("no/f", {}), ("f", {"user": "no-such-user"}), ("f", {"group": "no-such-group"})):
        foreseen = desk.foresee(managed, desk.at(name), contents="x", **args)
        assert foreseen.outcome is Outcome.WOULD_CHANGE
        assert "not" in foreseen.comment
        assert "not" in desk.refusal(managed, desk.at(name), contents="x", **args)
    assert "makedirs: True" in desk.refusal(managed, desk.at("no/f"), contents="x")


def test_replace_and_create_can_be_switched_off(desk: Desk) -> None:
    desk.put("f", "mine")
    desk.same(managed, desk.at("f"), contents="x", replace=False)
    assert desk.change(managed, desk.at("f"), contents="x", replace=False, mode="0600").changes == {
        "mode": "0600"
    }
    desk.same(managed, desk.at("g"), contents="x", create=False)
    assert desk.names() == ["f"]


def test_backups_lie_in_the_cache_or_beside_the_file(desk: Desk) -> None:
    desk.put("f", "old", mode=0o600)
    desk.change(managed, desk.at("f"), contents="new", backup="minion")
    [kept] = [path for path in desk.cache.rglob("f_*") if path.is_file()]
    assert (kept.read_text(), kept.stat().st_mode & 0o777) == ("old", 0o600)
    desk.change(managed, desk.at("f"), contents="newer", backup=".bak")
    assert desk.text("f.bak") == "new\n"
    desk.change(managed, desk.at("f"), contents="newest", backup=False)
    assert desk.names() == ["f", "f.bak"]


@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("relative/path", {"contents": "x"}, "Specified file relative/path is not an absolute path"),
        ("", {"contents": "x"}, "the path is empty"),
        ("/nul\0byte", {"contents": "x"}, "null byte"),
        ("/proc/saltern/f", {"contents": "x"}, "not present"),
        ("/x", {"contents": "x", "source": "salt://y"}, "cannot be combined"),
        ("/x", {"contents": "x", "contents_pillar": "y"}, "cannot be combined"),
        ("/x", {"contents": "x", "mode": "keep"}, "no mode to keep"),
        ("/x", {"contents": []}, "empty list"),
        ("/x", {"contents": "", "allow_empty": False}, "allow_empty"),
        ("/x", {"source": "s3://bucket/key"}, "not supported"),
        ("/x", {"source": "relative"}, "absolute path"),
        ("/x", {"source": "https://example.invalid/f"}, "source_hash"),
        ("/x", {"source": "/etc"}, "a directory"),
        ("/x", {"contents": "x", "template": "jinja", "context": "text"}, "must be a mapping"),
        ("/x", {"contents": "x", "encoding": "klingon"}, "klingon"),
        ("/x", {"contents": "x", "signature": "s"}, "only the signature of a source"),
    ],
)
def test_bad_input_gets_a_clear_answer(desk: Desk, name: str, args: dict[str, object], said: str) -> None:
    for test in (True, False):
        result = managed(desk.context(test=test), name, **args)  # type: ignore[arg-type]
        if said != "not present" or not test:
            assert result.outcome is Outcome.FAILED
        assert said in result.comment


def test_directories_and_pipes_are_not_overwritten(desk: Desk) -> None:
    desk.put("d/inner", "kept")
    os.mkfifo(desk.at("pipe"))
    assert (
        desk.refusal(managed, desk.at("d"), contents="x") == f"Specified target {desk.at('d')} is a directory"
    )
    assert "a pipe" in desk.refusal(managed, desk.at("pipe"), contents="x")


def test_binary_content_survives_and_is_not_shown(desk: Desk) -> None:
    data = bytes(range(256))
    (desk.states / "blob").write_bytes(data)
    desk.put("f", "text")
    result = desk.change(managed, desk.at("f"), source="salt://blob")
    assert result.changes["diff"] == "binary content instead of text"
    assert (desk.scratch / "f").read_bytes() == data


def test_differences_that_do_not_count_are_ignored(desk: Desk) -> None:
    desk.put("f", "b\n  a\n# note\n")
    desk.same(
        managed,
        desk.at("f"),
        contents="a\nb",
        ignore_ordering=True,
        ignore_whitespace=True,
        ignore_comment_characters="#",
    )
    desk.change(managed, desk.at("f"), contents="a\nb\nc", ignore_ordering=True)
    desk.same(managed, desk.at("f"), contents="c\na\nb", ignore_ordering=True)
    desk.change(managed, desk.at("f"), contents="a\nb\nc", ignore_ordering=True, contents_newline=False)


# -- links -------------------------------------------------------------------------------------


def test_a_link_is_written_through_and_stays(desk: Desk) -> None:
    desk.put("target", "old")
    os.symlink("target", desk.at("link"))
    desk.change(managed, desk.at("link"), contents="new")
    assert (os.readlink(desk.at("link")), desk.text("target")) == ("target", "new\n")


def test_a_link_that_leads_nowhere_gets_its_file(desk: Desk) -> None:
    os.symlink("target", desk.at("link"))
    desk.change(managed, desk.at("link"), contents="new")
    assert desk.text("target") == "new\n"


def test_without_following_the_link_becomes_a_file(desk: Desk) -> None:
    desk.put("target", "kept")
    os.symlink("target", desk.at("link"))
    desk.change(managed, desk.at("link"), contents="new", follow_symlinks=False)
    assert not os.path.islink(desk.at("link"))
    assert (desk.text("link"), desk.text("target")) == ("new\n", "kept")


@pytest.mark.skipif(not ROOT, reason="needs root")
@pytest.mark.parametrize("mode", [0o1777, 0o777])
def test_a_link_planted_in_an_open_directory_is_refused(desk: Desk, mode: int) -> None:
    victim = desk.put("victim", "precious")
    desk.put("open/x", "")
    os.chmod(desk.at("open"), mode)
    os.symlink(victim, desk.at("open/link"))
    os.chown(desk.at("open/link"), NOBODY, NOBODY, follow_symlinks=False)
    for args in ({"contents": "evil"}, {"mode": "0666"}, {"user": "nobody"}):
        assert "not followed" in desk.refusal(managed, desk.at("open/link"), **args)
        assert desk.foresee(managed, desk.at("open/link"), **args).outcome is Outcome.FAILED
    assert (desk.text("victim"), desk.mode("victim"), os.stat(victim).st_uid) == ("precious", 0o644, 0)


@pytest.mark.skipif(not ROOT, reason="needs root")
def test_a_planted_directory_is_refused_too(desk: Desk) -> None:
    desk.put("victim/f", "precious")
    desk.put("open/x", "")
    os.chmod(desk.at("open"), 0o1777)
    os.symlink(desk.at("victim"), desk.at("open/link"))
    os.chown(desk.at("open/link"), NOBODY, NOBODY, follow_symlinks=False)
    assert "not followed" in desk.refusal(managed, desk.at("open/link/f"), contents="evil")
    assert "not followed" in desk.refusal(managed, desk.at("open/link/new/f"), contents="evil", makedirs=True)


@pytest.mark.skipif(not ROOT, reason="needs root")
def test_a_users_link_may_lead_to_what_is_his_and_no_further(desk: Desk) -> None:
    desk.put("home/dotfiles/rc", "old")
    desk.put("root-owned", "precious")
    os.symlink("dotfiles/rc", desk.at("home/.rc"))
    os.symlink(desk.at("root-owned"), desk.at("home/.evil"))
    for name in ("home", "home/dotfiles", "home/dotfiles/rc", "home/.rc", "home/.evil"):
        os.chown(desk.at(name), NOBODY, NOBODY, follow_symlinks=False)
    desk.change(managed, desk.at("home/.rc"), contents="new")
    assert desk.text("home/dotfiles/rc") == "new\n"
    assert "not followed" in desk.refusal(managed, desk.at("home/.evil"), contents="new")
    assert desk.text("root-owned") == "precious"


# -- the web -----------------------------------------------------------------------------------


class Served(http.server.BaseHTTPRequestHandler):
    pages: dict[str, bytes] = {"/f.txt": b"from the web\n"}
    asked: list[str] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        body = self.pages.get(self.path)
        self.send_response(200 if body is not None else 404)
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def web() -> Iterator[str]:
    with http.server.HTTPServer(("127.0.0.1", 0), Served) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_source_from_the_web_needs_a_hash_and_is_fetched_once(desk: Desk, web: str) -> None:
    url, digest = f"{web}/f.txt", hashlib.sha256(b"from the web\n").hexdigest()
    Served.asked.clear()
    assert "source_hash" in desk.refusal(managed, desk.at("f"), source=url)
    assert desk.call(managed, desk.at("f"), source=url, source_hash=digest).changes
    assert not desk.call(managed, desk.at("f"), source=url, source_hash=digest).changes
    assert Served.asked == ["/f.txt"]
    assert desk.text("f") == "from the web\n"
    desk.change(managed, desk.at("g"), source=[f"{web}/none", url], skip_verify=True)
    assert "does not exist" in desk.refusal(managed, desk.at("h"), source=f"{web}/none", skip_verify=True)


def test_a_file_that_fails_its_check_leaves_no_directories_behind(desk: Desk) -> None:
    args: dict[str, object] = {"contents": "x", "check_cmd": "/bin/false", "makedirs": True}
    assert "check_cmd" in desk.refusal(managed, desk.at("a/b/f"), **args)
    assert desk.names() == []


@needs_root()
def test_a_check_by_another_user_can_read_the_file_also_before_its_directory_is_made(desk: Desk) -> None:
    context = Context(desk.run, runas="daemon")
    done = managed(context, desk.at("a/f"), contents="x", check_cmd="grep -q x", makedirs=True)
    assert done.outcome is Outcome.OK, done.comment
    done = managed(context, desk.at("g"), contents="x", check_cmd="grep -q x", tmp_dir="/tmp")
    assert done.outcome is Outcome.OK, done.comment


def test_a_link_that_is_not_to_be_replaced_stays_a_link(desk: Desk) -> None:
    desk.put("f", "x")
    os.symlink("f", desk.at("l"))
    desk.same(managed, desk.at("l"), contents="y", replace=False, follow_symlinks=False, mode="0600")
    desk.same(managed, desk.at("l"), follow_symlinks=False)
    assert os.readlink(desk.at("l")) == "f"
