"""The pipe of a file: the existing renderers, those that a ``#!`` line names, and those that are allowed."""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec import Struct

from saltern.language.diagnostics import CompileError, Diagnostic, did_you_mean
from saltern.language.source import Mark
from saltern.sources.stub import CONTROLLER

Others = Callable[[str], Callable[..., object] | None]


class Stage(Struct, frozen=True):
    """One part of a pipe: a renderer and its arguments."""

    name: str
    argline: str = ""


class Kind(Struct, frozen=True, kw_only=True):
    """One renderer. ``code`` is ``module:function``; ``extra`` is the package to install; ``runs``: its input
    is a program, which can do whatever saltern can; ``keys``: it uses the keys of this machine."""

    code: str
    makes: str  # "text", "data", or "values": its input, text or data, with decrypted values
    doc: str
    extra: str = ""
    runs: bool = False
    keys: bool = False


RENDERERS: dict[str, Kind] = {
    "jinja": Kind(code="", makes="text", doc="Jinja templates, with everything Salt adds to them."),
    "mako": Kind(code="saltern.render.engines:mako", makes="text", doc="Mako templates.", runs=True),
    "genshi": Kind(
        code="saltern.render.engines:genshi",
        makes="text",
        doc="Genshi templates (`-text` for plain text).",
        extra="saltern[renderers]",
        runs=True,
    ),
    "cheetah": Kind(
        code="saltern.render.engines:cheetah",
        makes="text",
        doc="Cheetah templates.",
        extra="saltern[renderers]",
        runs=True,
    ),
    "yaml": Kind(code="", makes="data", doc="YAML as Salt reads it."),
    "json": Kind(code="saltern.render.formats:json", makes="data", doc="JSON."),
    "toml": Kind(code="saltern.render.formats:toml", makes="data", doc="TOML."),
    "msgpack": Kind(
        code="saltern.render.formats:msgpack", makes="data", doc="MessagePack, base64 or as it is."
    ),
    "py": Kind(
        code="saltern.render.python:py",
        makes="data",
        doc="A Python file whose `run()` returns the data.",
        runs=True,
    ),
    "gpg": Kind(
        code="saltern.render.gpg:gpg",
        makes="values",
        doc="OpenPGP blocks in values, decrypted by the key ring `gpg_keydir`: `#!jinja|yaml|gpg`.",
        keys=True,
    ),
    "age": Kind(
        code="saltern.render.age:age",
        makes="values",
        doc="Blocks of age in values, decrypted by the age keys of this machine: `#!jinja|yaml|age`.",
        extra="saltern[secrets]",
        keys=True,
    ),
    "sops": Kind(
        code="saltern.render.sops:sops",
        makes="values",
        doc="Files of sops (YAML, JSON, dotenv, INI; MAC checked), by age keys or the key ring; and what "
        "`age` does: `#!yaml|sops`.",
        extra="saltern[secrets]",
        keys=True,
    ),
    "nacl": Kind(
        code="saltern.render.nacl:nacl",
        makes="values",
        doc="Values `NACL[…]`, opened with the key of `nacl.config`: `#!yaml|nacl`.",
        extra="saltern[secrets]",
        keys=True,
    ),
}


_OLDER = "Salt up to 3007, or an extension of Salt that has it"
# Renderers of an installed Salt, which its library runs, and what each needs in addition.
SALTS: dict[str, tuple[str, str]] = {
    "aws_kms": ("Values encrypted with Amazon's KMS.", f"{_OLDER}; boto3, and credentials of AWS"),
    "hjson": ("JSON for people: comments, no quotes.", f"{_OLDER}; hjson"),
    "json5": ("JSON with comments and trailing commas.", f"{_OLDER}; json5"),
    "pydsl": ("Salt's Python language for states; replaced by `pyobjects`.", _OLDER),
    "pyobjects": ("State files as Python classes.", ""),
    "stateconf": ("States with parameters and local names.", ""),
}


class PipeChooser:
    """Selects the pipe of a file, and refuses renderers that do not exist or are not allowed."""

    def __init__(
        self, pipe: str, *, blacklist: Collection[str], whitelist: Collection[str], code: bool, others: Others
    ) -> None:
        self._default = parse_pipe(pipe)
        self._blacklist = frozenset(blacklist)
        self._whitelist = frozenset(whitelist)
        self._code = code  # whether renderers that run code are allowed
        self._others = others  # renderers by name that are not ours

    def stages(
        self, text: str, file: str, default: tuple[Stage, ...] | None = None
    ) -> tuple[tuple[Stage, ...], str]:
        """The pipe of a file, and its text; the ``#!`` line becomes blank, so that line numbers stay right.

        Every render goes through here or through ``Renderers.text``: both check the permission.
        """
        first, newline, rest = text.partition("\n") if text.startswith("#!") else ("", "", text)
        own = first and not first.startswith(("#!/", "#!delayed_", "#!end_delayed_"))
        stages = (_here(parse_pipe(first[2:])) if own else ()) or default or self._default
        for stage in stages:
            self._check(stage, file, first if own else "")
        return stages, newline + rest if own else text

    def _check(self, stage: Stage, file: str, line: str) -> None:
        where = Mark(file, 1, line.find(stage.name) + 1)
        self.permit(stage.name, where)  # first, because looking for a user's renderer runs its code
        if stage.name not in RENDERERS and self._others(stage.name) is None:
            if stage.name in SALTS:
                raise CompileError(_needs_salt(stage.name, where))
            raise CompileError(
                Diagnostic(
                    code="unknown-renderer",
                    what=f"no renderer is called {stage.name!r}",
                    where=where,
                    fix=did_you_mean(stage.name, RENDERERS) or f"there are {', '.join(RENDERERS)}",
                )
            )

    def permit(self, name: str, where: Mark | None) -> None:
        """Raise ``CompileError`` if the configuration or a lack of trust forbids the renderer."""
        if name in self._blacklist or (self._whitelist and name not in self._whitelist):
            raise CompileError(
                Diagnostic(
                    code="renderer-refused",
                    what=f"the renderer {name!r} is not allowed here",
                    where=where,
                    fix="see renderer_blacklist and renderer_whitelist in the configuration",
                )
            )
        if not self._code and (name not in RENDERERS or RENDERERS[name].runs or RENDERERS[name].keys):
            from saltern.system.guard import REFUSED

            keys = name in RENDERERS and RENDERERS[name].keys
            what = (
                f"{REFUSED}: the renderer {name!r} {'uses the keys of this machine' if keys else 'runs code'}"
            )
            raise CompileError(Diagnostic(code="renderer-refused", what=what, where=where))


def _here(stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """The stages without the word that says where the file is rendered: the text is here."""
    return stages[1:] if stages and stages[0].name == CONTROLLER else stages


def _needs_salt(name: str, where: Mark) -> Diagnostic:
    also = f" ({SALTS[name][1]})" if SALTS[name][1] else ""
    return Diagnostic(
        code="renderer-missing",
        what=f"the renderer {name!r} is part of Salt: it needs Salt's library{also}, which was not found",
        where=where,
        fix="install salt where saltern finds it, or use another renderer",
    )


def parse_pipe(text: str) -> tuple[Stage, ...]:
    """``jinja | yaml -x`` → stages. Salt's old ``yaml_jinja`` is ``jinja|yaml``."""
    parts = [part.strip() for part in text.strip().split("|") if part.strip()]
    if len(parts) == 1 and "_" in parts[0] and parts[0] not in RENDERERS:
        data, _, template = parts[0].partition("_")
        if data in RENDERERS and template in RENDERERS:
            parts = [template, data]
    stages = []
    for part in parts:
        name, _, argline = part.partition(" ")
        stages.append(Stage(name, argline.strip()))
    return tuple(stages)
