"""A hostile tree, checked as an untrusted one: nothing of it runs, and nothing of the machine shows."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

SECRET = "wuxi-7741-secret"
EVIL = "import os\nopen({mark!r}, 'w')\nos.system('touch {mark}')\ndef f():\n    return {{}}\n"
LOW = "import ctypes\nctypes.CDLL(None).creat({mark!r}.encode(), 0o644)\n"

# What lies in the tree. {mark} must not be made, {secret} is a file outside, {port} must hear nothing.
TREES: dict[str, dict[str, str]] = {
    "custom grains": {"states/_grains/g.py": EVIL},
    "custom grains below Python": {"states/_grains/g.py": LOW},
    "an execution module": {"states/_modules/m.py": EVIL, "states/a.sls": "{{ salt['m.f']() }}"},
    "an execution module that hides ours": {
        "states/_modules/test.py": EVIL,
        "states/a.sls": "{{ salt['test.ping']() }}",
    },
    "a package as a module": {"states/_modules/m/__init__.py": EVIL, "states/a.sls": "{{ salt.m.f() }}"},
    "a state module": {"states/_states/s.py": EVIL, "states/a.sls": "x:\n  s.f: []\n"},
    "a utility": {"states/_utils/u.py": EVIL, "states/_modules/m.py": "import u\n" + EVIL},
    "a renderer": {"states/_renderers/r.py": EVIL, "states/a.sls": "#!r\nx: 1\n"},
    "a pillar module": {
        "states/_pillar/p.py": EVIL,
        "saltern.yaml": "file_roots: {base: [states]}\next_pillar: [{p: x}]\n",
    },
    "a command as pillar": {
        "saltern.yaml": "file_roots: {base: [states]}\next_pillar: [{cmd_yaml: 'touch {mark}'}]\n"
    },
    "a module of tops": {
        "states/_tops/t.py": EVIL,
        "saltern.yaml": "file_roots: {base: [states]}\nmaster_tops: {t: x}\n",
    },
    "a command as tops": {
        "saltern.yaml": "file_roots: {base: [states]}\nmaster_tops: {ext_nodes: 'touch {mark}'}\n"
    },
    "module directories": {
        "saltern.yaml": "file_roots: {base: [states]}\nmodule_dirs: [ext]\nextension_modules: ext\n",
        "ext/modules/m.py": EVIL,
        "ext/grains/g.py": EVIL,
        "states/a.sls": "{{ salt['m.f']() }}",
    },
    "compiled templates": {
        "saltern.yaml": "file_roots: {base: [states]}\ncachedir: cache\n",
        "cache/jinja/x": "code",
    },
    "the default renderer": {
        "saltern.yaml": "file_roots: {base: [states]}\nrenderer: py\n",
        "states/a.sls": EVIL,
    },
    "py": {"states/a.sls": "#!py\n" + EVIL + "def run():\n    return {{}}\n"},
    "py below Python": {"states/a.sls": "#!py\n" + LOW},
    "py in a pillar": {
        "saltern.yaml": "file_roots: {base: [states]}\npillar_roots: {base: [pillar]}\n",
        "pillar/top.sls": "#!py\n" + EVIL,
    },
    "py as a top file": {"states/top.sls": "#!py\n" + EVIL},
    "py behind jinja": {"states/a.sls": "#!jinja|py\n" + EVIL},
    "py in a delayed block": {
        "states/a.sls": "#!delayed_block b\n#!py\n" + EVIL + "#!end_delayed_block\nx:\n  test.nop:\n"
        "    - delayed_block: b\n",
    },
    "mako": {"states/a.sls": "#!mako|yaml\n<% open('{mark}', 'w') %>\nx: 1\n"},
    "mako, a module block": {"states/a.sls": "#!mako|yaml\n<%! open('{mark}', 'w') %>\nx: 1\n"},
    "genshi": {"states/a.sls": "#!genshi|yaml\n<?python open('{mark}', 'w') ?>\nx: 1\n"},
    "cheetah": {"states/a.sls": "#!cheetah|yaml\n#silent open('{mark}', 'w')\nx: 1\n"},
    "names of Python's modules": {
        name: "open({mark!r}, 'w')\n"
        for base in ("", "states/")
        for name in (f"{base}yaml.py", f"{base}msgspec.py", f"{base}sitecustomize.py", f"{base}saltern.py")
    },
    "a .pth file": {"x.pth": "import os; open('{mark}', 'w')\n", "states/x.pth": "import os\n"},
    "cmd.run": {"states/a.sls": "{{ salt['cmd.run']('touch {mark}; cat {secret}') }}"},
    "cmd.run by a default": {"states/a.sls": "{{ salt.get('cmd.run')('touch {mark}') }}"},
    "cmd.run in an imported map": {
        "states/map.jinja": "{% set x = salt.cmd.shell('touch {mark}') %}",
        "states/a.sls": "{% from 'map.jinja' import x %}{{ x }}",
    },
    "module.run": {"states/a.sls": "x:\n  cmd.run:\n    - name: touch {mark}\n"},
    "file.write": {"states/a.sls": "{{ salt['file.write']('{mark}', 'x') }}"},
    "http.query": {"states/a.sls": "{{ salt['http.query']('http://127.0.0.1:{port}') }}"},
    "network.connect": {"states/a.sls": "{{ salt['network.connect']('127.0.0.1', {port}) }}"},
    "the filter http_query": {"states/a.sls": "{{ 'http://127.0.0.1:{port}' | http_query }}"},
    "the filter dns_check": {"states/a.sls": "{{ 'localhost' | dns_check({port}) }}"},
    "cp.get_url": {"states/a.sls": "{{ salt['cp.get_url']('http://127.0.0.1:{port}/x', '{mark}') }}"},
    "file.read": {"states/a.sls": "{{ raise(salt['file.read']('{secret}')) }}"},
    "cp.get_file_str": {"states/a.sls": "{{ raise(salt['cp.get_file_str']('{secret}')) }}"},
    "slsutil.renderer of a file": {"states/a.sls": "{{ raise(salt['slsutil.renderer']('{secret}')) }}"},
    "slsutil.renderer of a program": {
        "states/a.sls": "{{ salt['slsutil.renderer'](string='#!py\\n' ~ \"open('{mark}', 'w')\") }}"
    },
    "a path out of the tree": {
        "states/a.sls": "{% import_text '/../../../../..{secret}' as t %}{{ raise(t) }}",
        "states/b.sls": "{% include '../../../../..{secret}' %}",
    },
    "a link out of the tree": {
        "states/a.sls": "{% import_text 'l.txt' as t %}{{ raise(t) }}",
        "states/l.txt": "-> {secret}",
        "states/l.sls": "-> {secret}",
        "states/d": "-> {outside}",
        "states/b.sls": "{% import_text 'd/secret' as t %}{{ raise(t) }}",
        "states/c.sls": "include:\n  - d.secret\n",
    },
    "a link to everything": {"states/all": "-> /", "states/also": "-> /usr"},
    "the source of a file state": {
        "states/a.sls": "/x:\n  file.managed:\n    - source: {secret}\n    - template: jinja\n",
        "states/b.sls": "/y:\n  file.managed:\n    - source: salt://t\n    - template: py\n",
        "states/c.sls": "/z:\n  file.managed:\n    - source: salt://m\n    - template: mako\n",
        "states/t": EVIL,
        "states/m": "<% open('{mark}', 'w') %>",
    },
    "roots outside": {
        "saltern.yaml": "file_roots: {base: [states, '{outside}']}\npillar_roots: {base: ['{outside}']}\n"
    },
    "a root that is a link": {"saltern.yaml": "file_roots: {base: [root]}\n", "root": "-> {outside}"},
    "an included configuration": {"saltern.yaml": "file_roots: {base: [states]}\ninclude: '{secret}'\n"},
    "a configuration by pattern": {
        "saltern.yaml": "file_roots: {base: [states]}\ndefault_include: '{outside}/*'\n"
    },
    "a grains file outside": {"saltern.yaml": "file_roots: {base: [states]}\ngrains_file: '{secret}'\n"},
    "a machine outside": {"saltern.yaml": "file_roots: {base: [states]}\ncheck: {machines: '{outside}'}\n"},
    "grains by a link": {"saltern.yaml": "file_roots: {base: [states]}\n", "grains": "-> {secret}"},
    "from a function to its module": {
        "states/a.sls": "{{ salt['test.ping'].func.__globals__ }}",
        "states/b.sls": "{{ salt['test.ping'].args[0].host.run('touch', '{mark}') }}",
        "states/c.sls": "{{ salt.registry.module('functions', 'file').os.system('touch {mark}') }}",
        "states/d.sls": "{{ (salt | attr('registry')).function('cmd.run').body('touch {mark}') }}",
        "states/e.sls": "{{ salt | method_call('bind', 1) }}",
        "states/f.sls": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "states/g.sls": "{{ self._TemplateReference__context.environment.loader }}",
        "states/h.sls": "{{ cycler.__init__.__globals__.os.system('touch {mark}') }}",
        "states/i.sls": "{{ '{0.__class__}'.format(salt) }}",
        "states/k.sls": "{{ ['touch {mark}'] | map('salt.cmd.run') | list }}",
        "states/j.sls": "{{ show_full_context()['salt'].registry }}",
    },
    "a hook of git": {
        ".git/hooks/post-checkout": "#!/bin/sh\ntouch {mark}\n",
        ".git/config": "[core]\nfsmonitor = touch {mark}\n",
    },
    "other renderers that are Python": {
        f"states/{name}.sls": f"#!{name}\n" + EVIL
        for name in ("pydsl", "pyobjects", "stateconf", "wempy", "jinja|pyobjects", "yaml|py", "cheetah|py")
    },
    "renderers that start programs": {
        "saltern.yaml": "file_roots: {base: [states]}\ngpg_keydir: states\n",
        "states/a.sls": "#!yaml|gpg\nx: |\n  -----BEGIN PGP MESSAGE-----\n  x\n  -----END PGP MESSAGE-----\n",
        "states/gpg.conf": "list-options show-photos\nphoto-viewer touch {mark}\n",
        "states/b.sls": "#!nacl\nx: NACL[eA==]\n",
        "states/c.sls": "#!pass\nx: y\n",
    },
    "tags of YAML that make objects": {
        "states/a.sls": "x: !!python/object/apply:os.system ['touch {mark}']\n",
        "states/b.sls": "x: !!python/object/new:os.system ['touch {mark}']\n",
        "states/c.sls": "{% load_yaml as x %}!!python/object/apply:os.system ['touch {mark}']{% endload %}",
        "states/d.sls": "{{ \"!!python/object/apply:os.system ['touch {mark}']\" | load_yaml }}",
        "states/e.sls": "{% import_yaml 'e.txt' as x %}{{ x }}",
        "states/e.txt": "!!python/object/apply:os.system ['touch {mark}']\n",
    },
    "words of states that run": {
        "states/a.sls": "x:\n  test.nop:\n    - onlyif: touch {mark}\n    - unless: touch {mark}\n",
        "states/b.sls": "/nowhere:\n  file.managed:\n    - contents: x\n    - check_cmd: touch {mark}\n",
        "states/c.sls": "x:\n  test.nop:\n    - name: __slot__:salt:cmd.run(touch {mark})\n",
        "states/d.sls": "x:\n  test.nop:\n    - onlyif:\n      - fun: cmd.run\n        cmd: touch {mark}\n",
        "states/e.sls": "/n:\n  file.managed: [{source: 'http://127.0.0.1:{port}/t', template: jinja}]\n",
        "states/f.sls": "/n:\n  archive.extracted:\n    - source: http://127.0.0.1:{port}/t.tar\n",
        "states/g.sls": "'ext::touch {mark}':\n  git.latest: [{target: /nowhere}]\n",
    },
    "a configuration that names files to write": {
        "saltern.yaml": "file_roots: {base: [states]}\nlog_level_logfile: all\n"
        + "".join(
            f"{word}: '{{mark}}'\n"
            for word in ("log_file", "cachedir", "state_dir", "root_dir", "pki_dir", "sock_dir", "pidfile")
        ),
    },
    "a configuration that names programs": {
        "saltern.yaml": "file_roots: {base: [states]}\nshell: '{mark}'\nreboot_command: [touch, '{mark}']\n"
        "global_state_conditions: {'*': ['touch {mark}']}\nstartup_states: highstate\n"
        "fileserver_backend: [git, roots]\ngitfs_remotes: ['ext::touch {mark}']\n",
    },
    "a configuration with modules for Jinja": {
        "saltern.yaml": "file_roots: {base: [states]}\njinja_env: {extensions: [states.evil.Extension]}\n"
        "jinja_sls_env: {extensions: [states.evil.Extension], finalize: states.evil.f}\n",
        "states/evil.py": EVIL,
        "states/a.sls": "x{{ 1 }}:\n  test.nop: []\n",
    },
    "a configuration that is a pipe": {"saltern.yaml": "| pipe"},
    "a configuration that is a device": {"saltern.yaml": "-> /dev/zero"},
    "links to devices and processes": {
        "states/a.sls": "-> /dev/zero",
        "states/b.sls": "{% import_text 'e' as t %}{{ raise(t) }}",
        "states/e": "-> /proc/self/environ",
        "states/c.sls": "{% import_text 'z' as t %}",
        "states/z": "-> /dev/zero",
        "states/d.sls": "-> /proc/self/mem",
    },
    "the environment": {
        "states/a.sls": "{{ raise(salt['environ.get']('A_SECRET')) }}",
        "states/b.sls": "{{ raise(salt['environ.items']() | string) }}",
        "states/c.sls": "{{ raise(salt['config.get']('A_SECRET') | string) }}",
        "states/d.sls": "{{ raise(opts | string) }}",
        "states/e.sls": "{{ raise(grains.items() | list | string) }}",
        "states/f.sls": "{{ raise(salt['sdb.get']('sdb://env/A_SECRET')) }}",
    },
    "filters that read files": {
        "states/a.sls": "{{ raise('{outside}' | list_files | join(' ')) }}",
        "states/b.sls": "{{ raise('{secret}' | file_hashsum) }}",
        "states/c.sls": "{{ raise('{secret}' | is_text_file | string) }}",
        "states/d.sls": "{{ raise(salt['file.find']('{outside}') | join(' ')) }}",
        "states/e.sls": "{{ raise(salt['cp.list_master'](prefix='../outside') | join(' ')) }}",
    },
    "more ways from a value to Python": {
        "states/a.sls": "{{ lipsum.__globals__['os'].system('touch {mark}') }}",
        "states/b.sls": "{{ '{a.__globals__}'.format_map({'a': lipsum}) }}",
        "states/c.sls": "{{ ['__globals__'] | map('attr', lipsum) | list }}",
        "states/d.sls": "{% set x = lipsum | attr('__globals__') %}{{ x['os'].system('touch {mark}') }}",
        "states/e.sls": "{{ (joiner | attr('__init__')).__globals__ }}",
        "states/f.sls": "{{ salt['test.ping'].__func__.__code__ }}{{ salt.__class__.__init__.__globals__ }}",
        "states/g.sls": "{{ namespace(a=salt).a['cmd.run']('touch {mark}') }}",
        "states/h.sls": "{% call(x) salt['cmd.run']('touch {mark}') %}{% endcall %}",
        "states/i.sls": "{% do salt['state.single']('cmd.run', name='touch {mark}') %}",
        "states/k.sls": "{{ salt['slsutil.renderer'](string='{{ salt.cmd.run(\"touch {mark}\") }}') }}",
        "states/l.sls": "{{ salt['saltutil.sync_all']() }}{{ salt['saltutil.cmd']('touch {mark}') }}",
    },
    "pipes": {
        "states/p.sls": "| pipe",
        "states/p.txt": "| pipe",
        "states/a.sls": "{% import_text 'p.txt' as t %}",
    },
}


class Place:
    """A tree, a file outside of it, and a port that listens."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self.tree, outside = folder / "tree", folder / "outside"
        outside.mkdir()
        self.mark = folder / "made"
        secret = outside / "secret"
        secret.write_text(f"{SECRET}: [{SECRET}\n")
        (outside / "secret.sls").write_text(f"{SECRET}: [{SECRET}\n")
        (outside / f"{SECRET}.name").touch()
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.heard: list[object] = []
        threading.Thread(target=self._hear, daemon=True).start()
        words = {"{mark!r}": repr(str(self.mark)), "{mark}": str(self.mark), "{secret}": str(secret)}
        words |= {"{outside}": str(outside), "{port}": str(self.listening.getsockname()[1]), "{{}}": "{}"}
        (self.tree / "states").mkdir(parents=True)
        for name, text in {"states/z.sls": "z:\n  test.nop: []\n", **files}.items():
            for word, value in words.items():
                text = text.replace(word, value)
            self._put(self.tree / name, text)

    def _put(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("-> "):
            path.symlink_to(text[3:])
        elif text == "| pipe":
            os.mkfifo(path)
        else:
            path.write_text(text)

    def _hear(self) -> None:
        try:
            while True:
                self.heard.append(self.listening.accept())
        except OSError:
            return

    def check(self, *words: str) -> subprocess.CompletedProcess[str]:
        config = (
            ("--config", "saltern.yaml")
            if (self.tree / "saltern.yaml").exists()
            else ("--file-root", "states")
        )
        return subprocess.run(
            [sys.executable, "-P", "-m", "saltern", "check", "--untrusted", *config, *words],
            capture_output=True,
            text=True,
            cwd=self.tree,
            timeout=120,
            check=False,
            env={**os.environ, "A_SECRET": SECRET},
        )


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path, TREES[request.param])
    yield made
    made.listening.close()


@pytest.mark.parametrize("place", TREES, indirect=True)
def test_nothing_of_it_acts_or_shows(place: Place) -> None:
    before = sorted(str(path) for path in place.tree.rglob("*"))
    ran = place.check("--out", "json")
    assert ran.returncode in (0, 1, 3, 5), ran.stderr
    assert "Traceback" not in ran.stderr
    assert not place.mark.exists()
    assert SECRET not in ran.stdout + ran.stderr
    assert place.heard == []
    assert sorted(str(path) for path in place.tree.rglob("*")) == before


@pytest.mark.parametrize(
    "place", ["cmd.run", "py", "mako", "an execution module", "a state module"], indirect=True
)
def test_what_is_not_run_is_reported_as_that(place: Place) -> None:
    ran = place.check()
    assert "not-rendered" in ran.stdout
    assert "z.sls" not in ran.stdout


@pytest.mark.parametrize("place", ["py"], indirect=True)
def test_without_the_word_it_is_run(place: Place) -> None:
    """The attack is one: the same tree, checked as trusted, does act."""
    subprocess.run(
        [sys.executable, "-P", "-m", "saltern", "check", "--file-root", "states"],
        cwd=place.tree,
        capture_output=True,
        check=False,
    )
    assert place.mark.exists()


@pytest.mark.parametrize("place", ["roots outside"], indirect=True)
def test_a_configuration_where_one_stands_is_part_of_the_tree(place: Place) -> None:
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "saltern", "check", "--untrusted"],
        capture_output=True,
        text=True,
        cwd=place.tree,
        check=False,
    )
    assert "untrusted-root" in ran.stdout
    assert SECRET not in ran.stdout + ran.stderr


@pytest.mark.parametrize("place", ["a .pth file"], indirect=True)
def test_fix_is_refused(place: Place) -> None:
    ran = place.check("--fix")
    assert ran.returncode == 1
    assert "untrusted-fix" in ran.stderr


def test_an_honest_tree_is_checked_as_ever(tmp_path: Path) -> None:
    place = Place(
        tmp_path,
        {
            "states/a.sls": "{% set os = grains['os_family'] %}\n{{ os }}-x:\n  file.managd: []\n",
            "states/b.sls": "{{ salt['pillar.get']('a', 'b') }}:\n  test.nop:\n    - require: [id: gone]\n",
        },
    )
    ran = place.check()
    assert "state-unknown" in ran.stdout
    assert "requisite-unknown" in ran.stdout
    assert "not-rendered" not in ran.stdout
    assert ran.returncode == 3
    named = place.check("states/a.sls")
    assert "state-unknown" in named.stdout
    assert "requisite-unknown" not in named.stdout
