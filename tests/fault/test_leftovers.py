"""What a killed run has left among temporary files is removed by a later run, once no process uses it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fault.machine import DEAD, Machine, die, machine

from saltern.system.leftovers import names_in_use

NOBODY = 65534
LIMIT = 200
SLOW = '#!/bin/sh\ncase " $* " in *"{word}"*) ;; *) exec {real} "$@";; esac\ntouch {at}/on\n'
WAIT = "until [ -e {at}/go ]; do sleep 0.05; done\n"
# The kind of private file, and of what → the state that makes one, and what is slow while it is there: a
# program, if it has this among its words.
KINDS = {
    "script": ("cmd.script: [{source: 'salt://long.sh'}]", "", ""),
    "check": ("file.managed: [{name: AT/f, contents: x, tmp_dir: TEMP, check_cmd: check}]", "check", ""),
    "patch": ("file.patch: [{name: AT/patched, source: 'salt://a.patch'}]", "patch", ""),
    "mysql": ("mysql_database.present: [{name: shop, connection_host: 127.0.0.1}]", "mariadb", ""),
    "pip": ("pip.installed: [{name: no-such-package, bin_env: AT/bin/pip}]", "pip", "install "),
    "clone": ("git.latest: [{name: AT/repository, target: OPEN/copy}]", "git", "clone "),
    "script, runas": ("cmd.script: [{source: 'salt://long.sh', runas: nobody, cwd: /}]", "", ""),
    "script, args": ("cmd.script: [{source: 'salt://long.sh', template: jinja, args: a b}]", "", ""),
    "initdb": ("postgres_initdb.present: [{name: AT/data, password: pw, runas: nobody}]", "initdb", ""),
    "pip, virtualenv": (
        "virtualenv.managed: [{name: AT, requirements: 'salt://r.txt'}]", "python", "install"
    ),
    "keys": (
        "pkgrepo.managed: [{name: 'deb http://127.0.0.1:1/ x y', file: AT/x.list, keyid: '0123456789ABCDEF', "
        "keyserver: 127.0.0.1}]", "gpg", "--recv-keys"
    ),
    "signature": (
        "file.managed: [{name: AT/f, source: 'salt://r.txt', skip_verify: true, signature: 'salt://r.txt'}]",
        "gpg", "--verify"
    ),
    "engine": (
        "ansible.playbooks: [{name: play.yml, rundir: AT, extra_vars: {a: b}}]", "ansible-playbook", ""
    ),
    "zypp": ("pkg.installed: [{name: zz, refresh: false, update_holds: true}]", "zypper", "install "),
    "unpack": ("archive.extracted: [{name: AT/out, source: AT/a.tar, options: --anchored}]", "tar", " TEMP/"),
}  # fmt: skip
# Programs that few machines have: what they say of a package that is not installed, and held.
STAND_INS = {
    "zypper": """#!/bin/sh
case " $* " in
*" locks "*) echo '<stream><locks><lock><name>zz</name><type>package</type></lock></locks></stream>';;
*) echo '<stream><solvable name="zz" kind="package" edition="1-1" arch="noarch" repository="r"/></stream>';;
esac
""",
    "rpm": "#!/bin/sh\nexit 0\n",
}
SUSE = "grains: {os_family: Suse}\n"
ACTS = "act:\n  cmd.run: [{name: 'true'}]\n"
PATCH = "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n"


class Scene:
    """A machine with a directory of its own for temporary files."""

    def __init__(self, one: Machine) -> None:
        self.one = one
        self.temp = one.base / "temp"
        self.temp.mkdir(mode=0o1777)
        self.bin = one.at / "bin"
        self.bin.mkdir()
        one.base.chmod(0o755)  # for programs of other users
        one.at.chmod(0o1777)
        self.temp.chmod(0o1777)
        (one.at / "patched").write_text("old\n")
        (one.at / "pyvenv.cfg").touch()
        (one.at / "play.yml").write_text("[]\n")
        subprocess.run(["tar", "-cf", one.at / "a.tar", "-C", one.at, "bin"], check=True)
        path = f"{self.bin}:{os.environ['PATH']}"
        self.env = {"TMPDIR": str(self.temp), "PATH": path}

    def slow(self, name: str, word: str) -> None:
        """A program that works until it is let go, and then fails; without ``word``, it is the real one."""
        real = self.stand_in(name) or shutil.which(name) if word else "false"
        if real is None:
            pytest.skip(f"{name} is not installed")
        known = {"real": real, "at": self.one.at, "word": word.replace("TEMP", str(self.temp))}
        text = (SLOW + WAIT + "exit 1\n").format_map(known)
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def stand_in(self, name: str) -> str:
        """A program of ``STAND_INS`` and what it needs, on a machine that would use it; empty: it is none."""
        if name not in STAND_INS:
            return ""
        self.one.place.write({"etc/saltern.yaml": SUSE})
        for one, folder in ((name, self.one.at), ("rpm", self.bin)):
            (folder / one).write_text(STAND_INS[one])
            (folder / one).chmod(0o755)
        return str(self.one.at / name)

    def write(self, state: str) -> None:
        for word, value in (("AT", self.one.at), ("TEMP", self.temp)):
            state = state.replace(word, str(value))
        script = ("#!/bin/sh\ntouch {at}/on\n" + WAIT).format(at=self.one.at)
        files = {"main.sls": f"it:\n  {state}\n", "acts.sls": ACTS, "idle.sls": "a: test.nop\n"}
        self.one.place.write({**files, "long.sh": script, "a.patch": PATCH, "r.txt": "none\n"})

    def kill(self) -> None:
        """Start the run, and kill it while the program works."""
        process = self.one.place.start("apply", "main", env=self.env)
        end = time.monotonic() + LIMIT
        while not (self.one.at / "on").exists():
            assert process.poll() is None and time.monotonic() < end, process.communicate()
            time.sleep(0.02)
        process.kill()
        process.communicate()

    def let_go(self) -> None:
        """Let the program end, and wait for that."""
        (self.one.at / "go").touch()
        self.one.quiet()
        while names_in_use(os.listdir(self.temp)):
            time.sleep(0.02)

    def run(self, name: str = "acts", **env: str) -> None:
        done = self.one.place.run("apply", name, env={**self.env, **env})
        assert done.code == 0, done.err + done.out

    def left(self, kind: str) -> list[str]:
        return [name for name in os.listdir(self.temp) if name.startswith(f"saltern-{kind}-")]


def make_repository(path: Path) -> None:
    """With one commit."""
    who = ("-c", "user.name=a", "-c", "user.email=a@localhost")
    for words in (("init", "-q"), (*who, "commit", "-q", "--allow-empty", "-m", "first")):
        path.mkdir(exist_ok=True)
        subprocess.run(["git", *words], cwd=path, check=True)


@pytest.fixture
def scene() -> Iterator[Scene]:
    with machine() as one:
        yield Scene(one)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A directory of another user, in which root lets no program work."""
    place = Path(f"/tmp/open-{os.urandom(6).hex()}")
    place.mkdir()
    os.chown(place, NOBODY, NOBODY)
    yield place
    shutil.rmtree(place)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("kind", KINDS)
def test_it_stays_while_its_program_works_and_is_removed_then(
    kind: str, scene: Scene, open_folder: Path
) -> None:
    state, program, word = KINDS[kind]
    kind = kind.partition(",")[0]
    if program:
        scene.slow(program, word)
    if "repository" in state:
        make_repository(scene.one.at / "repository")
    scene.write(state.replace("OPEN", str(open_folder)))
    scene.kill()
    held = scene.left(kind)
    assert held
    other = scene.one.base / "other"
    other.mkdir(mode=0o700)
    scene.run(SALTERN_STATE_DIR=str(other))
    used = scene.left(kind)
    assert used and set(used) <= set(held), "its program still works"
    scene.let_go()
    scene.run("idle")
    assert scene.left(kind) == used, "a run that does nothing does not look"
    scene.run()
    assert not scene.left(kind)


def test_what_an_unfinished_journal_has_left_is_removed_by_pruning(scene: Scene) -> None:
    scene.write("test.nop: []")
    runs = scene.one.runs
    ended = scene.one.apply(lambda name: die() if name == "journal.plain" else None)
    assert ended.code == DEAD
    assert len(list(runs.glob("*.new"))) == 1
    scene.run("idle")
    assert not list(runs.glob("*.new"))
