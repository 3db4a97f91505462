"""The modules of a bundle in one file, from which a host imports them: ``remote/imports.py`` reads it.

Writing a thousand small files takes a host longer than everything else in a first run. Modules that every run
needs are sent as compiled code if the host has the same Python; others as sources.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from saltern.fleet.ssh.bundle.usual import is_usual
from saltern.fleet.ssh.remote import imports

OURS = "saltern/__init__.py"
INSTALL = f"\nimport {imports.NAME}\n\n{imports.NAME}.install(__file__)\n".encode()
VERSION = 4  # of marshal: any Python from 3.4 on reads it
ENDING = ".py"
# Files whose code opens others beside them, or is run by a foreign program.
AS_FILES = ("saltern/modules/lib/engines/*", "saltern/modules/lib/chain_chunks.py")


def with_code_in_one_file(files: Mapping[str, bytes], *, is_ours: bool) -> dict[str, bytes]:
    """The files with all modules in one of them. ``is_ours``: the host has the Python that runs here."""
    modules = {name: data for name, data in files.items() if _is_module(name)}
    rest = {name: data for name, data in files.items() if name not in modules}
    return {
        **rest,
        OURS: files[OURS] + INSTALL,
        f"{imports.NAME}.py": Path(imports.__file__).read_bytes(),
        imports.FILE: _one_file(modules, is_ours=is_ours),
    }


def _is_module(name: str) -> bool:
    as_file = any(fnmatchcase(name, pattern) for pattern in AS_FILES)
    return name.endswith(ENDING) and name != OURS and not as_file


def _one_file(modules: Mapping[str, bytes], *, is_ours: bool) -> bytes:
    index: dict[str, tuple[bool, bool, int, int]] = {}
    parts, at = [], 0
    for file in sorted(modules):
        name, is_package = _module_name(file)
        is_code = is_ours and is_usual(name)
        part = _compile(modules[file], file) if is_code else modules[file]
        index[name] = (is_package, is_code, at, len(part))
        parts.append(part)
        at += len(part)
    listing = marshal.dumps(index, VERSION)
    return b"".join([len(listing).to_bytes(imports.SIZE), listing, *parts])


def _module_name(file: str) -> tuple[str, bool]:
    name = file.removesuffix(ENDING).replace("/", ".")
    return name.removesuffix(".__init__"), name.endswith(".__init__")


def _compile(source: bytes, file: str) -> bytes:
    return marshal.dumps(compile(source, file, "exec", dont_inherit=True), VERSION)
