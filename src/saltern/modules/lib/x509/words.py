"""Arguments of certificates and requests that are not in a signature: parts of a name, extensions."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.modules.api.params import unknown_argument
from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509 import extensions
from saltern.modules.lib.x509.names import ALIASES, ATTRIBUTES

# Arguments of file.managed that Salt passes on and that have no effect here; they are reported before a run.
OF_OTHER_FILES = frozenset(
    {"attrs", "encoding_errors", "file_encoding", "selinux"}
    | {"win_deny_perms", "win_inheritance", "win_owner", "win_perms", "win_perms_reset"}
)


def check_words(rest: Mapping[str, object], more: frozenset[str] = frozenset()) -> None:
    """Raise for arguments that are neither parts of a name nor extensions: they would be ignored silently."""
    known = {
        *OF_OTHER_FILES,
        *ATTRIBUTES,
        *ALIASES,
        *extensions.CERTIFICATE,
        *extensions.ALIASES,
        *extensions.UNSUPPORTED,
        *more,
    }
    if unknown := [word for word in rest if word not in known and not word.startswith("__")]:
        raise Refused(unknown_argument(unknown[0], known))
