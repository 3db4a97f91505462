"""``sops``: files that sops has encrypted (YAML, JSON, dotenv), opened by an age key or the key ring of gpg.

A file without the entry ``sops`` is left as it is, so that the renderer can be part of the usual pipe.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from saltern.language import secrets
from saltern.language.diagnostics import CompileError, Diagnostic
from saltern.language.source import Mark
from saltern.render.document import Job, Rendered
from saltern.render.encrypted import line_of
from saltern.render.sops_keys import NoKey, data_key
from saltern.render.sops_values import Damaged, flat_metadata, opened

_DOTENV = re.compile(r"^\w[\w.-]*\s*=", re.MULTILINE)


def sops(value: object, job: Job) -> object:
    """Data with its values decrypted and its entry ``sops`` taken out. Its MAC is checked."""
    if not isinstance(value, Mapping) or not isinstance(value.get("sops"), Mapping):
        return value
    opts = job.values.get("opts")
    try:
        key = data_key(value["sops"], opts if isinstance(opts, Mapping) else {})
        made = opened({name: one for name, one in value.items() if name != "sops"}, value["sops"], key)
    except NoKey as problem:
        raise CompileError(_problem(str(problem), "sops", job)) from None
    except Damaged as problem:
        raise CompileError(_problem(str(problem), problem.text, job)) from None
    except ImportError as problem:
        from saltern.render.stages import missing

        raise missing("sops", problem, job) from None
    secrets.add(made.secret)
    return made.data


def sops_text(made: Rendered, job: Job) -> object:
    """A file that is only named ``#!sops``: its form is seen in its text."""
    text = made.text.strip()
    if text.startswith("{"):
        from saltern.render.formats import json

        return sops(json(made.text, job), job)
    if _DOTENV.match(text) or (text.startswith("#") and _DOTENV.search(text) and "\nsops_" in text):
        return sops(_dotenv(text, job), job)
    from saltern.render.yaml import read

    return sops(read(made.text), job)


def _dotenv(text: str, job: Job) -> dict[str, object]:
    values: dict[str, object] = {}
    for number, line in enumerate(text.split("\n"), 1):
        name, mark, value = line.partition("=")
        if not line.strip() or line.startswith("#"):
            continue
        if not mark:
            what = "this line of a dotenv file has no '='"
            raise CompileError(Diagnostic(code="sops-decrypt", what=what, where=Mark(job.file, number)))
        values[name] = value.replace("\\n", "\n")
    about = flat_metadata({name: one for name, one in values.items() if name.startswith("sops_")})
    return {name: one for name, one in values.items() if not name.startswith("sops_")} | (
        {"sops": about} if about else {}
    )


def _problem(why: str, text: str, job: Job) -> Diagnostic:
    return Diagnostic(
        code="sops-decrypt",
        what=f"this file of sops cannot be decrypted: {why}",
        where=Mark(job.file, line_of(text, job.source)),
        fix="see the guide on secrets for where keys are looked for",
    )
