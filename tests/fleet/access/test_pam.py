"""Accounts of the host, by real PAM: services of the test's own, in a mount namespace of the test's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fleet.access.test_accounts import NOW, PEER, code

from saltern.fleet.access.logins import PAM
from saltern.fleet.access.pam import pam_groups, unix_groups
from saltern.fleet.access.policy import Pam
from saltern.fleet.access.service import Access
from saltern.language.diagnostics import OperationError

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: a mount namespace")
# pam_exec hands the password to the program on standard input, with a NUL at its end.
CHECK = """\
#!/bin/sh
IFS= read -r given
[ "$PAM_USER" = nobody ] && [ "$given" = "s3cret of nobody" ]
"""
SERVICES = {
    "open": "auth required pam_permit.so\naccount required pam_permit.so\n",
    "closed": "auth required pam_deny.so\naccount required pam_permit.so\n",
    "expired": "auth required pam_permit.so\naccount required pam_deny.so\n",
    "checked": "auth required pam_exec.so expose_authtok quiet {check}\naccount required pam_permit.so\n",
    "other": "auth required pam_permit.so\naccount required pam_permit.so\n",
}
ASK = """\
import json, sys
from saltern.fleet.access.pam import pam_groups
from saltern.fleet.access.policy import Pam
from saltern.language.diagnostics import OperationError
said = []
for service, groups, name, password in json.load(sys.stdin):
    try:
        said.append(pam_groups(Pam(service=service, groups=tuple(groups)), name, password))
    except OperationError as problem:
        said.append(problem.diagnostics[0].code)
print(json.dumps(said))
"""
Question = tuple[str, list[str], str, str]


@pytest.fixture
def services(tmp_path: Path) -> Path:
    """A folder to be seen as /etc/pam.d by the programs that the test starts, and by no other."""
    folder = tmp_path / "pam.d"
    folder.mkdir()
    check = tmp_path / "check"
    check.write_text(CHECK)
    check.chmod(0o755)
    for name, text in SERVICES.items():
        (folder / name).write_text(text.format(check=check))
    return folder


def ask(services: Path, questions: list[Question]) -> list[object]:
    script = f'mount --bind "{services}" /etc/pam.d && exec "$@"'
    line = [
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        script,
        "sh",
        sys.executable,
        "-c",
        ASK,
    ]
    done = subprocess.run(
        line, input=json.dumps(questions), capture_output=True, text=True, timeout=60, check=False
    )
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"no mount namespace here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    said: list[object] = json.loads(done.stdout)
    return said


def test_pam_decides_with_the_password_and_the_account(services: Path) -> None:
    groups = ["pam:nogroup"]
    answers: list[tuple[Question, object]] = [
        (("open", [], "nobody", "anything"), groups),
        (("closed", [], "nobody", "anything"), None),
        (("expired", [], "nobody", "anything"), None),
        (("checked", [], "nobody", "s3cret of nobody"), groups),
        (("checked", [], "nobody", "s3cret of nobod"), None),
        (("checked", [], "daemon", "s3cret of nobody"), None),
        (("open", [], "nobody", ""), None),  # never without a password
        (("open", [], "no-such-user", "anything"), None),
        (("open", ["nogroup", "wheel"], "nobody", "anything"), groups),
        (("open", ["wheel"], "nobody", "anything"), None),
        (("open", [], "../etc/passwd", "anything"), None),
        (("open", [], "nobody", "nul\0"), None),
        (("missing", [], "nobody", "anything"), "pam-service"),  # PAM itself would ask the service "other"
    ]
    assert ask(services, [question for question, _ in answers]) == [answer for _, answer in answers]


def test_a_user_has_groups_only_if_there_is_such_a_user() -> None:
    assert unix_groups("root") and "root" in (unix_groups("root") or ())
    assert unix_groups("no-such-user") is None


def test_a_service_without_a_file_is_named() -> None:
    with pytest.raises(OperationError) as refused:
        pam_groups(Pam(service="saltern-no-such-service"), "nobody", "anything")
    assert "/etc/pam.d/saltern-no-such-service" in refused.value.diagnostics[0].fix


def test_accounts_of_the_host_come_in_only_if_the_policy_says_so(access: Access) -> None:
    with pytest.raises(OperationError) as refused:
        access.logins.with_password("nobody", "anything", PEER, NOW, way=PAM)
    assert code(refused) == "login-way"
    access.policies.edit(
        "login: {local: false, pam: {service: saltern-no-such-service}}", who="root", now=NOW
    )
    with pytest.raises(OperationError) as refused:
        access.logins.with_password("nobody", "anything", PEER, NOW, way=PAM)
    assert code(refused) == "pam-service"
    with pytest.raises(OperationError) as refused:
        access.logins.with_password("nobody", "anything", PEER, NOW)
    assert code(refused) == "login-way"
    with pytest.raises(OperationError):
        access.policies.edit("login: {pam: {service: ../../tmp/mine}}", who="root", now=NOW)
