"""How git authenticates at a remote: Salt's settings of the remote, in addition to git's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote

from saltern.language import secrets
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.mask import mask

Pairs = tuple[tuple[str, str], ...]
# The password is in the environment of git, not on a command line.
HELPER = """!f() { test "$1" = get && printf 'username=%s\npassword=%s\n' \
"$SALTERN_USER" "$SALTERN_PASSWORD"; }; f"""

# Never prompts; a server that stops responding counts as unreachable.
SSH = "ssh -oBatchMode=yes -oConnectTimeout=30 -oServerAliveInterval=15 -oServerAliveCountMax=4"


def access_of(said: Mapping[str, object], url: str) -> Pairs:
    """The git options for a remote. Raises ``OperationError`` for settings that are unsafe or cannot work."""
    _check(said, url)
    found: list[tuple[str, str]] = []
    if _has_password(said):
        found += [("credential.helper", ""), ("credential.helper", HELPER)]
    if said.get("ssl_verify") is False:
        found.append(("http.sslVerify", "false"))
    if said.get("proxy"):
        found.append(("http.proxy", str(said["proxy"])))
    if said.get("privkey"):
        key = quote(str(said["privkey"]))
        found.append(("core.sshCommand", f"{SSH} -oIdentitiesOnly=yes -i {key}"))
    return tuple(found)


def secrets_of(said: Mapping[str, object]) -> Pairs:
    """The environment variables that git needs for these settings."""
    if not _has_password(said):
        return ()
    secrets.add(said["password"])
    return (("SALTERN_USER", str(said["user"])), ("SALTERN_PASSWORD", str(said["password"])))


def _has_password(said: Mapping[str, object]) -> bool:
    return bool(said.get("user") and said.get("password"))


def _check(said: Mapping[str, object], url: str) -> None:
    if said.get("passphrase"):
        secrets.add(said["passphrase"])
        what = "a key with a passphrase cannot be used: nothing can enter the passphrase"
        raise _refusal(url, what, "load the key into ssh-agent, or use one without a passphrase")
    if _has_password(said) and url.startswith("http://") and not said.get("insecure_auth"):
        secrets.add(said["password"])
        what = "user and password would be sent without encryption"
        raise _refusal(url, what, "use https://, or set insecure_auth of the remote")


def _refusal(url: str, what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code="git-address", what=f"{mask(url)}: {what}", fix=fix))
