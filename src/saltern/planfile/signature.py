"""Sign plans and check signatures with ``ssh-keygen -Y``: no cryptography of our own."""

from __future__ import annotations

import os
import subprocess

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.planfile.trust import distrust, exchangeable
from saltern.system.temporary import private_directory

NAMESPACE = "saltern-plan"  # a signature for another purpose is not valid for a plan
ENDING = ".sig"
MOST_BYTES = 1 << 20


def sign(data: bytes, key: str) -> bytes:
    """Sign with the SSH key in a file; a public key if the agent has the private one."""
    ran = _run(["-Y", "sign", "-q", "-f", os.path.abspath(key), "-n", NAMESPACE], data)
    if ran.returncode or not ran.stdout:
        raise _bad(f"the plan cannot be signed with {key!r}: {_error_text(ran)}")
    return ran.stdout


def verify(path: str, data: bytes, signers: str) -> str:
    """The signer of ``data``, among ``signers`` (in the format of sshd's ``allowed_signers``).

    The signature is beside the plan. Raises ``OperationError`` if there is no valid signature.
    """
    signature = path + ENDING
    for file, name in ((signature, "the signature"), (signers, "the list of signers")):
        if not os.path.isfile(file):
            raise _bad(f"the plan {path!r} was not applied: {name} {file!r} is missing", signed=True)
    with private_directory("verify") as folder:
        # Copies are checked, each several times: another process may swap the files meanwhile.
        own, allowed = os.path.join(folder, "plan.sig"), os.path.join(folder, "signers")
        _copy(signature, own)
        _copy(signers, allowed, trusted_for=path)
        who = _run(["-Y", "find-principals", "-s", own, "-f", allowed], b"")
        for principal in who.stdout.decode(errors="replace").split("\n"):
            words = ["-Y", "verify", "-f", allowed, "-I", principal, "-n", NAMESPACE, "-s", own]
            if principal and _run(words, data).returncode == 0:
                return principal
    raise _bad(
        f"the plan {path!r} was not applied: no key of {signers!r} has signed it as it is", signed=True
    )


def _copy(source: str, to: str, *, trusted_for: str = "") -> None:
    """Copy a file. ``trusted_for``: the plan that the file decides about, so no other user may write it."""
    handle = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with os.fdopen(handle, "rb") as opened, open(to, "wb") as copy:
        if trusted_for and (why := exchangeable(source) or distrust(os.fstat(opened.fileno()))):
            raise _bad(f"the plan {trusted_for!r} was not applied: the list of signers {source!r}: {why}")
        copy.write(opened.read(MOST_BYTES))


def _run(words: list[str], data: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["ssh-keygen", *words], input=data, capture_output=True, check=False)
    except FileNotFoundError:
        raise _bad("ssh-keygen is not installed: it signs plans, and checks signatures") from None


def _error_text(ran: subprocess.CompletedProcess[bytes]) -> str:
    lines = ran.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"ssh-keygen ended with {ran.returncode}"


def _bad(what: str, *, signed: bool = False) -> OperationError:
    fix = "sign it: saltern plan --sign KEY -o FILE" if signed else ""
    return OperationError(Diagnostic(code="plan-signature", what=what, fix=fix))
