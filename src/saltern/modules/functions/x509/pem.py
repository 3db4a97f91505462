"""``x509``: PEM entries in texts and files."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import glob
import os
import re

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.api.refused import Refused
from saltern.modules.functions.file.errors import absolute, explain_errors
from saltern.modules.lib.x509.material import material
from saltern.modules.lib.x509.pem_entries import entries
from saltern.system import files

KEPT = ("DH PARAMETERS", "PRIVATE KEY", "RSA PRIVATE KEY")


def _entry(text: str, pem_type: str | None) -> str:
    given = material(text, "text").decode(errors="replace") if os.path.isabs(text) else text
    found = [entry for kind, entry in entries(given) if pem_type is None or re.fullmatch(pem_type, kind)]
    if not found:
        raise BadArgument(f"the text contains no {pem_type}")
    return found[0]


@function
def get_pem_entry(ctx: Context, text: str, pem_type: str | None = None) -> str:
    """The first PEM entry in a text, or in the file it names, normalized; of one kind if that is given.

    Example:
        ```console
        $ saltern call x509.get_pem_entry /etc/pki/www.pem
        local:
            -----BEGIN CERTIFICATE-----
        …
        ```
    """
    with explain_errors("text"):
        return _entry(text, pem_type)


@function
def get_pem_entries(ctx: Context, glob_path: str) -> dict[str, str]:
    """The first PEM entry in each of these files, by path. Other files are skipped.

    Example:
        ```console
        $ saltern call x509.get_pem_entries '/etc/pki/*.pem'
        ```
    """
    found: dict[str, str] = {}
    with explain_errors("text"):
        for path in sorted(glob.glob(glob_path)):
            if os.path.isfile(path):
                try:
                    found[path] = _entry(os.path.abspath(path), None)
                except (Refused, BadArgument):
                    continue
    return found


@function
def write_pem(ctx: Context, text: str, path: str, overwrite: bool = True, pem_type: str | None = None) -> str:
    """Write the first PEM entry in a text, normalized, to a file that only its owner may read.

    Args:
        text: the entry, or the file that contains it.
        path: the file to write.
        overwrite: False keeps a private key and DH parameters that are in the file with a certificate.
        pem_type: the kind of entry, if the text contains several.

    Example:
        ```console
        $ saltern call x509.write_pem /etc/pki/www.pem /etc/pki/copy.pem
        local:
            PEM written to /etc/pki/copy.pem
        ```
    """
    with explain_errors(path):
        place, entry = absolute(path), _entry(text, pem_type)
        old = files.read(place) if not overwrite and pem_type == "CERTIFICATE" else None
        kept = {} if old is None else {kind: one for kind, one in entries(old.decode()) if kind in KEPT}
        keys = [one for kind, one in kept.items() if kind != "DH PARAMETERS"]
        others = [one for kind, one in kept.items() if kind == "DH PARAMETERS"]
        files.write(place, "".join([*keys, entry, *others]).encode(), files.Attributes(mode=0o600))
    return f"PEM written to {path}"
