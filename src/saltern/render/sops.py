"""``sops``: decrypt sops files (YAML, JSON, dotenv, INI) with an age key or the gpg key ring.

A file without the entry ``sops`` is unchanged except for age blocks, so that the renderer can be part of
the default pipe.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from saltern.language import secrets
from saltern.language.diagnostics import CompileError, Diagnostic
from saltern.language.source import Mark
from saltern.render.age import BLOCKS, age, age_text
from saltern.render.document import Job, Rendered
from saltern.render.encrypted import line_of
from saltern.render.sops_files import NotRead, is_dotenv, is_ini, read_dotenv, read_ini
from saltern.render.sops_keys import NoKey, data_key
from saltern.render.sops_values import Damaged, decrypt_all

_ENTRY = re.compile(r'^sops:|^sops_.*|^\[sops\]|"sops"\s*:', re.MULTILINE)  # of a file written by sops


def sops(value: object, job: Job) -> object:
    """The data with its values decrypted and without its entry ``sops``. Checks its MAC."""
    if not isinstance(value, Mapping) or not isinstance(value.get("sops"), Mapping):
        return age(value, job)
    opts = job.values.get("opts")
    try:
        key = data_key(value["sops"], opts if isinstance(opts, Mapping) else {})
        made = decrypt_all({name: one for name, one in value.items() if name != "sops"}, value["sops"], key)
    except NoKey as problem:
        raise CompileError(_problem(str(problem), _entry(job.source), job)) from None
    except Damaged as problem:
        raise CompileError(_problem(str(problem), problem.text, job)) from None
    except ImportError as problem:
        from saltern.render.stages import missing_package

        raise missing_package("sops", problem, job) from None
    secrets.add(made.secret)
    return made.data


def sops_text(made: Rendered, job: Job) -> object:
    """A file with only ``#!sops``: its format is detected from the text. It may also be an age block."""
    if BLOCKS.block.search(made.text) and not _ENTRY.search(made.text):
        return age_text(made, job)
    try:
        return sops(_read(made.text, job), job)
    except NotRead as problem:
        where = Mark(job.file, problem.line)
        raise CompileError(Diagnostic(code="sops-decrypt", what=str(problem), where=where)) from None


def _read(text: str, job: Job) -> object:
    if text.lstrip().startswith("{"):
        from saltern.render.formats import json

        return json(text, job)
    if is_ini(text):
        return read_ini(text)
    if is_dotenv(text):
        return read_dotenv(text)
    from saltern.render.yaml import read
    from saltern.render.yaml_limits import YamlProblem

    try:
        return read(text)
    except YamlProblem as problem:
        where = Mark(job.file, problem.line, problem.column)
        raise CompileError(
            Diagnostic(code=problem.code, what=problem.what, where=where, fix=problem.fix)
        ) from None


def _entry(source: str) -> str:
    """The line where the metadata of sops begins."""
    found = _ENTRY.search(source)
    return found[0] if found else ""


def _problem(why: str, text: str, job: Job) -> Diagnostic:
    return Diagnostic(
        code="sops-decrypt",
        what=f"this sops file cannot be decrypted: {why}",
        where=Mark(job.file, line_of(text, job.source)),
        fix="the guide on secrets says where keys are searched",
    )
