"""The kit for tests of states: trees, fakes, and a machine in memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from saltern.language.diagnostics import CompileError
from saltern.testing import MemoryHost, Outcome, Result, StateTree, failed, ok

MakeTree = Callable[..., StateTree]

WEB = {
    "web.sls": """\
nginx:
  pkg.installed: []
  service.running:
    - watch: [{file: /etc/nginx-of-tests/nginx.conf}]
/etc/nginx-of-tests/nginx.conf:
  file.managed:
    - source: salt://nginx.conf
    - template: jinja
    - makedirs: True
    - mode: '0640'
    - require: [{pkg: nginx}]
""",
    "nginx.conf": "listen {{ pillar['port'] }} on {{ grains['os'] }}\n",
}
FAKES = {"pkg.installed": ok(), "service.running": ok()}


@pytest.fixture
def web(saltern_tree: MakeTree) -> StateTree:
    return saltern_tree(WEB, pillar={"port": 8080}, states=FAKES)


# -- without running -------------------------------------------------------------------------------------


def test_an_sls_is_rendered_with_the_grains_and_the_pillar_of_the_test(saltern_tree: MakeTree) -> None:
    tree = saltern_tree(
        {"a.sls": "{{ grains['os'] }}-{{ grains['colour'] }}-{{ pillar['word'] }}: test.nop\n"},
        grains={"colour": "red"},
        pillar={"word": "hi"},
    )
    assert tree.render("a") == "Debian-red-hi: test.nop\n"


def test_no_grain_is_that_of_the_machine_the_test_runs_on(saltern_tree: MakeTree) -> None:
    tree = saltern_tree({"a.sls": "{{ grains.get('kernelrelease', 'none') }}: test.nop\n"})
    assert tree.order("a") == ["none"]


def test_pillar_files_are_compiled_and_what_the_test_gives_wins(saltern_tree: MakeTree) -> None:
    tree = saltern_tree(
        {
            "a.sls": "{{ pillar['one'] }}-{{ pillar['two'] }}: test.nop\n",
            "pillar/top.sls": "base: {'test-*': [p]}\n",
            "pillar/p.sls": "one: 1\ntwo: 2\n",
        },
        pillar={"two": "three"},
    )
    assert tree.order("a") == ["1-three"]


def test_low_data_and_order_are_those_of_a_real_run(web: StateTree) -> None:
    low = web.low("web")
    assert [(chunk["state"], chunk["fun"]) for chunk in low] == [
        ("pkg", "installed"),
        ("service", "running"),
        ("file", "managed"),
    ]
    assert web.order("web") == ["nginx", "/etc/nginx-of-tests/nginx.conf", "nginx"]
    assert web.apply("web").order == web.order("web")


def test_the_top_file_decides_where_no_sls_is_named(saltern_tree: MakeTree) -> None:
    tree = saltern_tree({"top.sls": "base: {'os:Debian': [{match: grain}, a]}\n", "a.sls": "x: test.nop\n"})
    assert tree.order() == ["x"]


def test_problems_are_reported_as_a_user_reads_them(saltern_tree: MakeTree) -> None:
    tree = saltern_tree({"a.sls": "a:\n  test.nop:\n    - require: [{file: b}]\n"})
    (problem,) = tree.problems("a")
    assert problem.startswith("a.sls:3:")
    with pytest.raises(CompileError):
        tree.apply("a")


def test_a_tree_of_your_own_is_tested_where_it_is(saltern_tree: MakeTree, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.sls").write_text("x: test.nop\n")
    assert saltern_tree(root=str(tmp_path / "mine")).order("a") == ["x"]


# -- running ---------------------------------------------------------------------------------------------


def test_states_run_against_the_machine_in_memory(web: StateTree) -> None:
    ran = web.apply("web").check()
    assert web.host.read("/etc/nginx-of-tests/nginx.conf") == "listen 8080 on Debian\n"
    assert web.host.nodes["/etc/nginx-of-tests/nginx.conf"].mode == 0o640
    assert ran.changed == ["/etc/nginx-of-tests/nginx.conf", "nginx"]
    assert ran["nginx", "service"].changes == {"nginx": "reacted"}
    assert not os.path.exists("/etc/nginx-of-tests/nginx.conf")


def test_a_second_run_finds_what_the_first_has_done(web: StateTree) -> None:
    web.apply("web")
    assert web.apply("web").changed == []


def test_a_test_run_changes_nothing_in_memory(web: StateTree) -> None:
    ran = web.apply("web", test=True)
    assert ran["/etc/nginx-of-tests/nginx.conf"].outcome is Outcome.WOULD_CHANGE
    assert not web.host.exists("/etc/nginx-of-tests/nginx.conf")


FILES = {
    "directory": ("file.directory: [name: /srv/a/b, makedirs: True, mode: '0700']", "/srv/a/b", None),
    "symlink": ("file.symlink: [name: /srv/link, target: /etc/motd]", "/srv/link", "hello\n"),
    "append": ("file.append: [name: /etc/motd, text: more]", "/etc/motd", "hello\nmore\n"),
    "replace": ("file.replace: [name: /etc/motd, pattern: hello, repl: bye]", "/etc/motd", "bye\n"),
    "line": ("file.line: [name: /etc/motd, mode: delete, content: hello]", "/etc/motd", ""),
    "copy": ("file.copy: [name: /srv/copy, source: /etc/motd]", "/srv/copy", "hello\n"),
    "rename": ("file.rename: [name: /srv/moved, source: /etc/motd]", "/srv/moved", "hello\n"),
    "recurse": ("file.recurse: [name: /srv/tree, source: 'salt://tree']", "/srv/tree/below/a", "a"),
    "serialize": ("file.serialize: [name: /srv/s, serializer: json, dataset: {a: 1}]", "/srv/s", None),
}  # fmt: skip


@pytest.mark.parametrize("kind", FILES)
def test_states_of_files_work_in_memory(saltern_tree: MakeTree, kind: str) -> None:
    state, path, text = FILES[kind]
    host = MemoryHost({"/etc/motd": "hello\n"})
    tree = saltern_tree({"a.sls": f"x:\n  {state}\n", "tree/below/a": "a"}, host=host)
    assert tree.apply("a").check().changed == ["x"]
    assert host.exists(path)
    if text is not None:
        assert host.read(path) == text
    if kind not in ("append", "line"):
        assert tree.apply("a").changed == []


def test_absent_removes_from_memory(saltern_tree: MakeTree) -> None:
    host = MemoryHost({"/srv/a/b": "x"})
    saltern_tree({"a.sls": "/srv/a: file.absent\n"}, host=host).apply("a").check()
    assert not host.exists("/srv/a/b")


def test_commands_answer_from_the_table(saltern_tree: MakeTree) -> None:
    host = MemoryHost(commands={"check *": 1, "make it": "made", "other": lambda line: f"did {line}"})
    tree = saltern_tree(
        {"a.sls": "make it: {cmd.run: [unless: check it]}\nother: {cmd.run: []}\nunknown: {cmd.run: []}\n"},
        host=host,
    )
    ran = tree.apply("a")
    assert host.ran == ["check it", "make it", "other", "unknown"]
    assert ran["make it"].changes["stdout"] == "made"
    assert ran["other"].changes["stdout"] == "did other"
    assert ran.failed == ["unknown"]
    assert "add it to its commands" in ran["unknown"].comment


def test_conditions_look_at_the_machine_in_memory(saltern_tree: MakeTree) -> None:
    host = MemoryHost({"/etc/done": ""}, commands={"x": 0})
    ran = saltern_tree({"a.sls": "x: {cmd.run: [creates: /etc/done]}\n"}, host=host).apply("a")
    assert ran.skipped == ["x"]
    assert host.ran == []


def test_functions_are_faked_one_by_one(saltern_tree: MakeTree) -> None:
    tree = saltern_tree(
        {"a.sls": "{{ salt['network.ip_addrs']('eth0')[0] }}-{{ salt['test.echo']('real') }}: test.nop\n"},
        functions={"network.ip_addrs": lambda interface: [f"10.0.0.1@{interface}"]},
    )
    assert tree.order("a") == ["10.0.0.1@eth0-real"]


def test_states_are_faked_by_a_result_or_by_a_function(saltern_tree: MakeTree) -> None:
    def running(name: str, **given: object) -> Result:
        return failed(f"no {name}") if given.get("enable") else ok()

    tree = saltern_tree(
        {"a.sls": "a: {service.running: [enable: True]}\nb: {cloud.thing: []}\nc: {service.running: []}\n"},
        states={"service.running": running, "cloud.thing": ok("there", changes={"b": "made"})},
    )
    ran = tree.apply("a")
    assert ran.failed == ["a"]
    assert ran["a"].comment == "no a"
    assert ran.changed == ["b"]
    with pytest.raises(AssertionError, match="no a"):
        ran.check()


def test_delayed_blocks_are_rendered_with_what_the_fake_returned(saltern_tree: MakeTree) -> None:
    tree = saltern_tree(
        {
            "a.sls": "make:\n  cloud.made:\n    - delayed_render:\n      - block: after\n"
            "#!delayed_block after\n/srv/id:\n  file.managed:\n"
            "    - contents: {{ prev_ret.data.id | tojson }}\n#!end_delayed_block\n"
        },
        states={"cloud.made": ok("made", changes={"made": True}, id="i-1")},
    )
    ran = tree.apply("a").check()
    assert ran.order == ["make", "/srv/id"]
    assert tree.host.read("/srv/id") == "i-1\n"


def test_a_result_is_asked_for_by_id_and_the_mistake_lists_what_is_there(web: StateTree) -> None:
    ran = web.apply("web")
    with pytest.raises(KeyError, match="2 states are called 'nginx'"):
        ran["nginx"]
    with pytest.raises(KeyError, match="file"):
        ran["apache"]
    assert "apache" not in ran


# -- nothing real is touched -----------------------------------------------------------------------------


ESCAPES = {
    "a program": "import subprocess\ndef f():\n    return subprocess.run(['true']).returncode\n",
    "a file": "def f():\n    open('/tmp/saltern-escaped', 'w').close()\n",
    "a removal": "import os\ndef f():\n    os.remove('/etc/hostname')\n",
    "a connection": "import socket\ndef f():\n    socket.create_connection(('127.0.0.1', 9))\n",
}


@pytest.mark.parametrize("kind", ESCAPES)
def test_what_would_act_on_the_real_machine_is_refused(saltern_tree: MakeTree, kind: str) -> None:
    states = f"{ESCAPES[kind]}def run(name):\n    f()\n    return {{'name': name, 'result': True}}\n"
    tree = saltern_tree({"a.sls": "x: escape.run\n", "_states/escape.py": states})
    ran = tree.apply("a")
    assert ran.failed == ["x"]
    assert "must not act on this machine" in ran["x"].comment
    assert not os.path.exists("/tmp/saltern-escaped")


def test_files_of_the_real_machine_are_not_seen(saltern_tree: MakeTree) -> None:
    tree = saltern_tree({"a.sls": "x: {file.exists: [name: /etc/passwd]}\n"})
    assert tree.apply("a").failed == ["x"]


def test_after_a_run_the_test_sees_its_own_files_again(web: StateTree) -> None:
    before = os.stat
    web.apply("web")
    assert os.stat is before
    assert os.path.exists("/etc/passwd")


def test_check_blames_only_the_state_that_failed(saltern_tree: MakeTree) -> None:
    text = (
        "app:\n  test.nop: []\n  cmd.run:\n    - name: 'false'\n"
        "after:\n  test.nop:\n    - require:\n      - cmd: app\n"
    )
    host = MemoryHost(files={"/etc/app.conf": "x\n"}, commands={"false": 1})
    ran = saltern_tree({"a.sls": text}, host=host).apply("a")
    with pytest.raises(AssertionError) as caught:
        ran.check()
    blamed = str(caught.value).splitlines()
    assert [line.split()[0] for line in blamed[1:]] == ["cmd.run", "not"]
    assert blamed[-1] == "not run because of that: after"
    assert ran.failed == ["app", "after"]
