"""``ssh_auth``: keys in a file of our own, with real keys of ``ssh-keygen``."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from saltern.language.result import Outcome
from saltern.modules.functions import ssh as functions
from saltern.modules.lib import ssh_keys
from saltern.modules.states.ssh_auth import absent, manage, present

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk

pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="needs ssh-keygen")
ME = pwd.getpwuid(os.geteuid()).pw_name


def new_key(desk: Desk, name: str, kind: str = "ed25519") -> str:
    """The whole line of a public key."""
    path = str(desk.states / name)
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", f"{name}@here", "-f", path], check=True)
    with open(f"{path}.pub") as file:
        return file.read().strip()


def test_a_key_comes_once_with_private_modes(desk: Desk) -> None:
    line = new_key(desk, "a")
    blob = line.split()[1]
    where = {"user": ME, "config": desk.at("ssh/keys")}
    result = desk.change(present, blob, enc="ed25519", comment="me", **where)
    assert result.changes == {blob: "New"}
    assert desk.text("ssh/keys") == f"ssh-ed25519 {blob} me\n"
    assert (desk.mode("ssh"), desk.mode("ssh/keys")) == (0o700, 0o600)
    told = subprocess.run(
        ["ssh-keygen", "-l", "-f", desk.at("ssh/keys")], capture_output=True, text=True, check=True
    ).stdout
    keys = result.data["keys"]
    assert isinstance(keys, list)
    assert keys[0]["fingerprint"] in told


def test_a_whole_line_is_understood_and_options_are_exact(desk: Desk) -> None:
    line = new_key(desk, "a")
    blob = line.split()[1]
    where = {"user": ME, "config": desk.at("keys")}
    desk.put("keys", "# mine\n\nnot a key\n")
    desk.change(present, line, **where)
    desk.same(present, blob, **where)
    result = desk.change(present, blob, options=['command="echo a, b"', "no-pty"], **where)
    assert result.changes == {blob: "Updated"}
    assert desk.text("keys") == f'# mine\n\nnot a key\ncommand="echo a, b",no-pty {line}\n'
    desk.change(present, blob, **where)
    assert desk.text("keys").endswith(f"\n{line}\n")
    desk.change(present, f'command="x" {line}', options=["no-pty"], comment="other", **where)
    assert desk.text("keys").endswith(f'\ncommand="x" {line}\n')


def test_keys_come_from_a_file_and_go(desk: Desk) -> None:
    lines = [new_key(desk, "a"), new_key(desk, "b", "ecdsa")]
    source = desk.source("keys.pub", "# team\n" + "\n".join(lines) + "\n")
    where = {"user": ME, "config": desk.at("keys")}
    desk.change(present, "team", source=source, **where)
    blobs = [line.split()[1] for line in lines]
    result = desk.change(absent, blobs[0], **where)
    assert result.changes == {blobs[0]: "Removed"}
    desk.change(absent, "team", source=source, **where)
    assert desk.text("keys") == ""
    assert "contains no public key" in desk.refusal(present, "x", source=desk.source("e", "#\n"), **where)


def test_manage_leaves_no_other_keys(desk: Desk) -> None:
    old, new = new_key(desk, "a"), new_key(desk, "b")
    desk.put("keys", f"{old}\n# comment\n", mode=0o600)
    result = desk.change(manage, "team", ssh_keys=[new], user=ME, config=desk.at("keys"))
    assert result.changes == {old.split()[1]: "Key removed", new.split()[1]: "New"}
    assert desk.text("keys") == f"# comment\n{new}\n"


def test_bad_input_is_reported_plainly(desk: Desk) -> None:
    where = {"user": ME, "config": desk.at("keys")}
    blob = new_key(desk, "a").split()[1]
    assert "not a public key" in desk.refusal(present, "nonsense", **where)
    assert "not a public key" in desk.refusal(present, "ssh-rsa not base64", **where)
    assert "of the kind ssh-ed25519" in desk.refusal(present, blob, enc="rsa", **where)
    assert "no kind of key" in desk.refusal(present, blob, enc="rot13", **where)
    assert "more than one line" in desk.refusal(present, blob, comment="a\nssh-rsa evil", **where)
    assert "not available" in desk.refusal(present, blob, user="saltern-t-none")


def test_a_user_that_is_not_there_yet_is_no_failure_in_test_mode(desk: Desk) -> None:
    blob = new_key(desk, "a").split()[1]
    result = desk.foresee(present, blob, user="saltern-t-none")
    assert (result.outcome, result.changes) == (Outcome.WOULD_CHANGE, {blob: "New"})
    assert desk.same(absent, blob, user="saltern-t-none").data


def test_the_file_may_be_named_as_sshd_does() -> None:
    home = ssh_keys.Home("ada", 1, 1, "/home/ada")
    assert ssh_keys.file_of(home, "%h/x/%u%%") == "/home/ada/x/ada%"
    assert ssh_keys.file_of(home, ".ssh/k") == "/home/ada/.ssh/k"
    assert ssh_keys.file_of(home, "/etc/keys/%u") == "/etc/keys/ada"


def test_functions_set_check_and_remove(desk: Desk) -> None:
    ctx, config = desk.context(), desk.at("keys")
    line = new_key(desk, "a")
    blob = line.split()[1]
    assert functions.check_key(ctx, ME, line, config=config) == "add"
    assert functions.set_auth_key(ctx, ME, line, config=config) == "new"
    assert functions.set_auth_key(ctx, ME, line, config=config) == "no change"
    assert functions.set_auth_key(ctx, ME, line, options=["no-pty"], config=config) == "replace"
    found = functions.auth_keys(ctx, ME, config)[blob]
    assert isinstance(found, dict)
    assert (found["enc"], found["comment"], found["options"]) == ("ssh-ed25519", "a@here", ["no-pty"])
    assert functions.rm_auth_key(ctx, ME, blob, config) == "Key removed"
    assert functions.rm_auth_key(ctx, ME, blob, config) == "Key not present"
