"""The age keys of this machine: from the environment, as for sops, and from files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence


class AgeKeys:
    """Read once; ``why`` has the reasons why keys cannot be used. Needs pyrage."""

    def __init__(self, opts: Mapping[str, object], *, ssh: bool = False) -> None:
        """``ssh``: something is encrypted for an SSH key, so the user's SSH keys count as well."""
        self.why: list[str] = []
        looked = _files(opts, ssh=ssh)
        texts = [text for text in (os.environ.get("SOPS_AGE_KEY"), *map(_read, looked)) if text]
        self._identities = [one for text in texts for one in self._read_keys(text)]
        if not self._identities and not self.why:
            self.why.append(f"there is no age key: searched {' and '.join(looked)}")

    @property
    def usable(self) -> bool:
        return bool(self._identities)

    def decrypt(self, data: str) -> bytes | None:
        """The content of an armoured file; None if no key fits, or it is damaged."""
        import pyrage

        try:
            return pyrage.decrypt(data.encode(), self._identities) if self._identities else None
        except pyrage.DecryptError:
            return None

    def _read_keys(self, text: str) -> Iterator[object]:
        import pyrage

        try:
            if "PRIVATE KEY-----" in text:
                yield pyrage.ssh.Identity.from_buffer(text.encode())
        except pyrage.IdentityError:
            self.why.append("an SSH key cannot be used: it has a passphrase, or is damaged")
        for line in map(str.strip, text.splitlines()):
            try:
                if line.startswith("AGE-SECRET-KEY-"):
                    yield pyrage.x25519.Identity.from_str(line)
            except pyrage.IdentityError:
                self.why.append("a line of the age keys is damaged")


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""


def _files(opts: Mapping[str, object], *, ssh: bool) -> Sequence[str]:
    """The named key files, else the default ones."""
    environ = os.environ
    home = os.path.expanduser("~")
    settings = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    beside = os.path.join(str(opts.get("config_dir") or "/etc/saltern"), "age", "keys.txt")
    own = environ.get("SOPS_AGE_SSH_PRIVATE_KEY_FILE")
    named = [opts.get("sops_age_key_file"), environ.get("SOPS_AGE_KEY_FILE"), own]
    usual = [beside, os.path.join(settings, "sops", "age", "keys.txt")]
    others = (
        [os.path.join(home, ".ssh", name) for name in ("id_ed25519", "id_rsa")] if ssh and not own else []
    )
    return [os.path.expanduser(str(one)) for one in (*([one for one in named if one] or usual), *others)]
