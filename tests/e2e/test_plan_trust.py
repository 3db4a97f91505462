"""A plan of somebody else: nothing of it is used before it is found to be good."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.e2e.command import NOBODY, Done, Place

SLS = "x:\n  file.managed:\n    - name: {out}\n    - contents: made\n"
EVIL = "open({mark!r}, 'w')\ndef f():\n    return {{}}\n"


@pytest.fixture
def made(place: Place) -> Path:
    place.write({"a.sls": SLS.format(out=place.base / "out")})
    assert place.run("plan", "a", "-o", "a.plan").code == 0
    return place.base / "a.plan"


def rewritten(path: Path, **changes: object) -> None:
    """As an attacker writes it: every sum is right."""
    plan = json.loads(path.read_text())
    body = msgspec.msgpack.decode(base64.b64decode(plan["compiled"]), strict=False)
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(body.get(key), dict):
            body[key] = {**body[key], **value}
        else:
            body[key] = value
    packed = msgspec.msgpack.encode(body)
    plan |= {"compiled": base64.b64encode(packed).decode(), "sum": sha256(packed).hexdigest()}
    path.write_text(json.dumps(plan, separators=(",", ":")))


def applied(place: Place, *words: str, user: int = 0) -> Done:
    return place.run("apply", str(place.base / "a.plan"), *words, user=user)


def hostile(place: Place) -> tuple[str, Path]:
    """A directory with code of every kind, and what it makes when it runs."""
    mark, evil = place.base / "mark", place.base / "evil"
    for folder in ("_grains", "_modules", "_states", "_pillar", "grains", "modules", "pillar"):
        (evil / folder).mkdir(parents=True)
        (evil / folder / "e.py").write_text(EVIL.format(mark=str(mark)))
    (evil / "a.sls").write_text("#!py\n" + EVIL.format(mark=str(mark)))
    (evil / "top.sls").write_text("#!py\n" + EVIL.format(mark=str(mark)))
    return str(evil), mark


@pytest.mark.parametrize(
    "changes",
    [
        {"settings": {"file_roots": {"base": ["{evil}"]}}},
        {"settings": {"pillar_roots": {"base": ["{evil}"]}}},
        {"settings": {"module_dirs": ["{evil}"]}},
        {"settings": {"extension_modules": "{evil}"}},
        {"settings": {"extra": {"ext_pillar": [{"cmd_yaml": "touch {mark}"}]}}},
        {"settings": {"extra": {"master_tops": {"ext_nodes": "touch {mark}"}}}},
        {"settings": {"cachedir": "{evil}"}},
        {"settings": {"state_dir": "{evil}"}},
        {"settings": {"renderer": "py"}},
        {"settings": {"reboot_command": ["touch", "{mark}"]}},
        {"settings": {"grains_file": "{evil}/a.sls"}},
        {"request": {"sls": [], "template": "{evil}/a.sls"}},
    ],
    ids=str,
)
def test_what_leads_to_code_is_not_believed(place: Place, made: Path, changes: dict[str, object]) -> None:
    evil, mark = hostile(place)
    text = json.dumps(changes).replace("{evil}", evil).replace("{mark}", str(mark))
    rewritten(made, **json.loads(text))
    for words in ((), ("--replan",)):
        done = applied(place, *words)
        assert done.code == 1
        assert "[plan-settings]" in done.err
    assert not mark.exists()
    assert not (place.base / "out").exists()


def test_roots_of_the_plan_must_be_those_of_here(place: Place, made: Path) -> None:
    del made
    other = place.base / "other"
    shutil.copytree(place.states, other)
    done = place.run("apply", "a.plan", f"--file-root={other}")
    assert "file_roots" in done.err
    assert "[plan-settings]" in done.err


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666, 0o622])
def test_a_plan_that_others_can_write_is_refused(place: Place, made: Path, mode: int) -> None:
    made.chmod(mode)
    done = applied(place)
    assert done.code == 1
    assert "[plan-distrusted]" in done.err
    assert not (place.base / "out").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files away")
def test_a_plan_of_another_user_is_refused(place: Place, made: Path) -> None:
    os.chown(made, NOBODY, NOBODY)
    assert "[plan-distrusted]" in applied(place).err
    made.chmod(0o777)
    assert "[plan-distrusted]" in applied(place).err


GIVES_AWAY = pytest.mark.skipif(os.geteuid() != 0, reason="gives files away")


def _open_to_all(folder: Path) -> str:
    folder.chmod(0o777)
    return "a.plan"


def _of_a_group(folder: Path) -> str:
    os.chown(folder, 0, NOBODY)
    folder.chmod(0o775)
    return "a.plan"


def _of_another_user(folder: Path) -> str:
    os.chown(folder, NOBODY, NOBODY)
    return "a.plan"


def _below_one_of_another_user(folder: Path) -> str:
    (folder / "sub").mkdir(mode=0o700)
    (folder / "a.plan").rename(folder / "sub/a.plan")
    os.chown(folder, NOBODY, NOBODY)
    return "sub/a.plan"


def _by_a_link_of_another_user(folder: Path) -> str:
    folder.chmod(0o1777)
    (folder / "l.plan").symlink_to("a.plan")
    os.lchown(folder / "l.plan", NOBODY, NOBODY)
    return "l.plan"


def _through_a_link_of_another_user(folder: Path) -> str:
    folder.chmod(0o1777)
    (folder / "d").symlink_to(".")
    os.lchown(folder / "d", NOBODY, NOBODY)
    return "d/a.plan"


def _by_a_link_into_an_open_directory(folder: Path) -> str:
    (folder / "open").mkdir()
    (folder / "a.plan").rename(folder / "open/a.plan")
    (folder / "l.plan").symlink_to("open/../open/a.plan")
    (folder / "open").chmod(0o777)
    return "l.plan"


@GIVES_AWAY
@pytest.mark.parametrize(
    "exposed",
    [
        _open_to_all, _of_a_group, _of_another_user, _below_one_of_another_user, _by_a_link_of_another_user,
        _through_a_link_of_another_user, _by_a_link_into_an_open_directory,
    ],
)  # fmt: skip
def test_a_plan_that_others_can_exchange_is_refused(
    place: Place, made: Path, exposed: Callable[[Path], str]
) -> None:
    folder = place.base / "plans"
    folder.mkdir(mode=0o755)
    made.rename(folder / "a.plan")
    path = exposed(folder)
    for name in (f"plans/{path}", str(folder / path)):
        done = place.run("apply", name)
        assert done.code == 1
        assert "[plan-distrusted]" in done.err, done.err
    assert not (place.base / "out").exists()


@GIVES_AWAY
def test_links_of_our_own_and_a_sticky_directory_are_fine(place: Place, made: Path) -> None:
    folder = place.base / "plans"
    folder.mkdir()
    folder.chmod(0o1777)
    made.rename(folder / "a.plan")
    (place.base / "l.plan").symlink_to("plans/./a.plan")
    done = place.run("apply", "l.plan")
    assert done.code == 0, done.err
    assert (place.base / "out").exists()


@GIVES_AWAY
def test_a_tree_that_was_put_in_place_of_the_old_one_is_not_what_was_planned(
    place: Place, made: Path
) -> None:
    """The same paths, other files: by a link, and by another directory."""
    evil, _ = hostile(place)
    del made
    place.states.rename(place.base / "moved")
    for replace in (lambda: place.states.symlink_to(evil), lambda: shutil.copytree(evil, place.states)):
        replace()
        done = applied(place)
        assert done.code != 0
        assert not (place.base / "out").exists()
        if place.states.is_symlink():
            place.states.unlink()
        assert "Traceback" not in done.err


def test_a_pipe_and_a_device_are_no_plans(place: Place, made: Path) -> None:
    made.unlink()
    os.mkfifo(made)
    assert applied(place).code in (1, 3)
    for device in ("/dev/zero", "/dev/null", "/proc/self/mem"):
        assert place.run("apply", device).code in (1, 3)


def test_a_plan_of_one_file_is_applied_with_that_file_named_again(place: Place) -> None:
    one = place.base / "one.sls"
    one.write_text(SLS.format(out=place.base / "out"))
    assert place.run("plan", "--template", str(one), "-o", "a.plan").code == 0
    assert "[plan-settings]" in applied(place).err
    assert applied(place, "--template", str(one)).code == 0
    assert (place.base / "out").read_text() == "made\n"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_plan_is_refused_with_a_message(place: Place, data: st.DataObject) -> None:
    path = place.base / "a.plan"
    if not path.exists():
        place.write({"a.sls": SLS.format(out=place.base / "out")})
        assert place.run("plan", "a", "-o", "a.plan").code == 0
        path.with_suffix(".good").write_bytes(path.read_bytes())
    good = path.with_suffix(".good").read_bytes()
    path.write_bytes(good)
    shapes: st.SearchStrategy[object] = st.sampled_from(
        [None, 1, "x", [], {}, [1], {"a": 1}, {"chunks": [{}]}, [["x"]], -(2**63)]
    )
    kind = data.draw(st.sampled_from(["bytes", "body", "plan", "request", "outer"]))
    if kind == "bytes":
        at = data.draw(st.integers(20, len(good) - 1))
        path.write_bytes(good[:at] + data.draw(st.binary(max_size=4)) + good[at + 1 :])
    elif kind == "body":
        key = data.draw(st.sampled_from(["request", "settings", "pillar", "sources", "plan"]))
        rewritten(path, **{key: data.draw(shapes)})
    elif kind == "outer":
        plan = json.loads(good)
        plan[data.draw(st.sampled_from([*plan][1:]))] = data.draw(shapes)
        path.write_text(json.dumps(plan, separators=(",", ":")))
    else:
        body = msgspec.msgpack.decode(base64.b64decode(json.loads(good)["compiled"]), strict=False)
        name = data.draw(st.sampled_from([*body[kind]] or ["x"]))
        rewritten(path, **{kind: {**body[kind], name: data.draw(shapes)}})
    done = place.run("apply", str(path))
    assert done.code in (0, 1, 2, 3), done.err
    assert "a bug in saltern" not in done.err
    (place.base / "out").unlink(missing_ok=True)


# -- signatures ---------------------------------------------------------------------------------------------

SSH_KEYGEN = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")


def key(place: Place, name: str) -> Path:
    path = place.base / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path], check=True)
    return path


def signers(place: Place, **keys: Path) -> str:
    rows = [f"{name} {path.with_suffix('.pub').read_text()}" for name, path in keys.items()]
    (place.base / "signers").write_text("".join(rows))
    return str(place.base / "signers")


@SSH_KEYGEN
def test_a_signed_plan_is_applied_and_no_other(place: Place) -> None:
    place.write({"a.sls": SLS.format(out=place.base / "out")})
    ours, theirs = key(place, "ours"), key(place, "theirs")
    known = signers(place, ada=ours)
    assert place.run("plan", "a", "-o", "a.plan", "--sign", str(theirs)).code == 0
    assert "[plan-signature]" in applied(place, "--verify", known).err
    assert place.run("plan", "a", "-o", "a.plan", "--sign", str(ours)).code == 0
    path = place.base / "a.plan"
    good = path.read_bytes()
    path.write_bytes(good.replace(b'"made":', b'"made": ', 1))
    assert "[plan-signature]" in applied(place, "--verify", known).err
    # that of another plan of theirs is none for this one
    assert place.run("plan", "a", "-o", "other.plan", "--sign", str(ours), "--strict").code == 0
    signature = Path(f"{path}.sig").read_bytes()
    path.write_bytes(good)
    shutil.copy(place.base / "other.plan.sig", f"{path}.sig")
    assert "[plan-signature]" in applied(place, "--verify", known).err
    Path(f"{path}.sig").write_bytes(signature)
    done = applied(place, "--verify", known)
    assert done.code == 0, done.err
    assert "signed by ada" in done.err
    assert (place.base / "out").read_text() == "made\n"


@SSH_KEYGEN
def test_a_configuration_can_ask_for_signatures(place: Place) -> None:
    place.write({"a.sls": SLS.format(out=place.base / "out")})
    ours = key(place, "ours")
    env = {"SALTERN_PLAN_SIGNERS": signers(place, ada=ours)}
    assert place.run("plan", "a", "-o", "a.plan", env=env).code == 0
    done = place.run("apply", "a.plan", env=env)
    assert "[plan-signature]" in done.err
    # a signature for something else is none for a plan
    words = ["ssh-keygen", "-Y", "sign", "-q", "-f", str(ours), "-n", "file", str(place.base / "a.plan")]
    subprocess.run(words, check=True, capture_output=True)
    assert "[plan-signature]" in place.run("apply", "a.plan", env=env).err
    assert place.run("plan", "a", "-o", "a.plan", "--sign", str(ours), env=env).code == 0
    assert place.run("apply", "a.plan", env=env).code == 0


def test_a_signature_needs_a_file_and_a_key(place: Place) -> None:
    place.write({"a.sls": SLS.format(out=place.base / "out")})
    assert "[plan-signature]" in place.run("plan", "a", "--sign", "k").err
    assert "[plan-signature]" in place.run("plan", "a", "-o", "a.plan", "--sign", "missing").err


@SSH_KEYGEN
@pytest.mark.parametrize("way", ["group", "others", pytest.param("owner", marks=GIVES_AWAY), "directory"])
def test_a_list_of_signers_that_another_user_can_write_is_not_believed(place: Place, way: str) -> None:
    place.write({"a.sls": SLS.format(out=place.base / "out")})
    ours = key(place, "ours")
    known = Path(signers(place, ada=ours))
    assert place.run("plan", "a", "-o", "a.plan", "--sign", str(ours)).code == 0
    if way == "owner":
        os.chown(known, 65534, 0)
    elif way == "directory":
        (place.base / "open").mkdir()
        known = known.rename(place.base / "open/signers")
        known.parent.chmod(0o777)
    else:
        known.chmod({"group": 0o664, "others": 0o646}[way])
    done = applied(place, "--verify", str(known))
    assert "the list of signers" in done.err
    assert "[plan-signature]" in done.err
    assert not (place.base / "out").exists()
