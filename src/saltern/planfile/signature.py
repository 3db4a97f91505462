"""Signatures of plans, made and checked by ``ssh-keygen -Y``: no cryptography of our own."""

from __future__ import annotations

import os
import subprocess
import tempfile

from saltern.language.diagnostics import Diagnostic, OperationError

NAMESPACE = "saltern-plan"  # a signature for something else is none for a plan
ENDING = ".sig"


def sign(data: bytes, key: str) -> bytes:
    """The signature with an SSH key, by its file; a public one if the agent has the private one."""
    ran = _run(["-Y", "sign", "-q", "-f", os.path.abspath(key), "-n", NAMESPACE], data)
    if ran.returncode or not ran.stdout:
        raise _bad(f"the plan cannot be signed with {key!r}: {_said(ran)}")
    return ran.stdout


def verify(path: str, data: bytes, signers: str) -> str:
    """Who has signed ``data``, of those in ``signers`` (as sshd knows ``allowed_signers``).

    The signature lies beside the plan. Raises ``OperationError`` if there is none, or none that holds.
    """
    signature = path + ENDING
    for file, name in ((signature, "the signature"), (signers, "the list of signers")):
        if not os.path.isfile(file):
            raise _bad(f"the plan {path!r} was not applied: {name} {file!r} is missing", signed=True)
    allowed = os.path.abspath(signers)
    with tempfile.NamedTemporaryFile(
        suffix=ENDING
    ) as copy:  # one copy is asked twice, whoever swaps the file
        with open(signature, "rb") as opened:
            copy.write(opened.read(1 << 16))
        copy.flush()
        who = _run(["-Y", "find-principals", "-s", copy.name, "-f", allowed], b"")
        for principal in who.stdout.decode(errors="replace").split("\n"):
            words = ["-Y", "verify", "-f", allowed, "-I", principal, "-n", NAMESPACE, "-s", copy.name]
            if principal and _run(words, data).returncode == 0:
                return principal
    raise _bad(
        f"the plan {path!r} was not applied: no key of {signers!r} has signed it as it is", signed=True
    )


def _run(words: list[str], data: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["ssh-keygen", *words], input=data, capture_output=True, check=False)
    except FileNotFoundError:
        raise _bad("ssh-keygen is not installed: it signs plans, and checks signatures") from None


def _said(ran: subprocess.CompletedProcess[bytes]) -> str:
    lines = ran.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"ssh-keygen ended with {ran.returncode}"


def _bad(what: str, *, signed: bool = False) -> OperationError:
    fix = "sign it: saltern plan --sign KEY -o FILE" if signed else ""
    return OperationError(Diagnostic(code="plan-signature", what=what, fix=fix))
