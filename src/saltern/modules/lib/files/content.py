"""The content of a file: from arguments, from pillar or grains, from a source, through a template."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from saltern.language.ordered import order_mappings
from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files import sources
from saltern.modules.lib.files.accumulators import collected_for

RESERVED = ("salt", "pillar", "grains", "opts")  # the same further arguments that Salt fails on


class Template(Struct, frozen=True, kw_only=True):
    """How text is rendered to content."""

    engine: str = ""
    context: Mapping[str, object] = field(default_factory=dict)
    defaults: Mapping[str, object] = field(default_factory=dict)
    variables: Mapping[str, object] = field(default_factory=dict)
    encoding: str = ""
    errors: str = "strict"


def template_of(
    engine: str | None,
    context: object,
    defaults: object,
    encoding: str | None = None,
    errors: str = "strict",
    variables: Mapping[str, object] | None = None,
) -> Template:
    """``variables``: further arguments of the state, below ``defaults``, as in Salt."""
    taken = [name for name in RESERVED if engine and name in (variables or ())]
    if taken:
        raise Refused(f"{taken[0]!r} cannot be a variable of a template; the name is reserved")
    return Template(
        engine=engine or "",
        context=order_mappings(_mapping("context", context)),
        defaults=order_mappings(_mapping("defaults", defaults)),
        variables=order_mappings(variables or {}),
        encoding=encoding or "",
        errors=errors,
    )


def _mapping(name: str, value: object) -> Mapping[str, object]:
    """The mapping, or the merged mappings of a list."""
    if not value:
        return {}
    if isinstance(value, Mapping):
        return value
    if isinstance(value, list) and all(isinstance(item, Mapping) for item in value):
        return {key: inner for item in value for key, inner in item.items()}
    raise Refused(f"{name} must be a mapping of names to values")


def render(
    ctx: Context,
    path: str,
    data: bytes,
    template: Template,
    *,
    source: str = "",
    name: str = "",
    names: Mapping[str, object] | None = None,
) -> bytes:
    """The bytes to write; without a template and an encoding, the given bytes.

    ``names`` are variables about the file; ``context`` overrides them.
    """
    if not template.engine and not template.encoding:
        return data
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        if template.encoding:
            raise
        return data  # binary content is not rendered, as in Salt: `template` on a whole directory
    if template.engine:
        values = {
            "source": source,
            **(names or {}),
            **template.variables,
            **template.defaults,
            **template.context,
            "accumulator": collected_for(ctx, path),
        }
        text = _render(ctx, text, template.engine, name or source, values)
    try:
        return text.encode(template.encoding or "utf-8", template.errors)
    except LookupError:
        raise Refused(f"no encoding is called {template.encoding!r}") from None


def _render(ctx: Context, text: str, engine: str, path: str, values: Mapping[str, object]) -> str:
    """Render a text; ``py`` returns the value of its ``run()``."""
    sls = ctx.chunk.sls if ctx.chunk else ""
    if engine != "py":
        return ctx.templates.text(text, engine=engine, env=ctx.env, path=path, sls=sls, values=values)
    made = ctx.templates.data(text, pipe="py", env=ctx.env, path=path, sls=sls, values=values)
    if not isinstance(made, str):
        raise Refused(f"run() of a py template must return a text, not {type(made).__name__}")
    return made


def render_source(
    ctx: Context,
    path: str,
    found: sources.Source,
    template: Template,
    names: Mapping[str, object] | None = None,
) -> bytes:
    return render(ctx, path, found.data, template, source=found.url, name=found.name, names=names)


class Given(Struct, frozen=True, kw_only=True):
    """Content from arguments; at most one of the three is given."""

    contents: object = None
    pillar: object = None
    grains: object = None
    delimiter: str = ":"
    newline: bool = True
    allow_empty: bool = True

    @property
    def named(self) -> list[str]:
        given = (
            ("contents", self.contents),
            ("contents_pillar", self.pillar),
            ("contents_grains", self.grains),
        )
        return [name for name, value in given if value is not None]


def given_bytes(ctx: Context, given: Given) -> bytes | None:
    """The content from arguments, pillar or grains; None if none is given."""
    if not given.named:
        return None
    if len(given.named) > 1:
        raise Refused(f"{' and '.join(given.named)} cannot be combined")
    value = given.contents
    if given.pillar is not None:
        value = _looked_up(ctx, "pillar.get", "Pillar", given.pillar, given.delimiter)
    elif given.grains is not None:
        value = _looked_up(ctx, "grains.get", "Grain", given.grains, given.delimiter)
    data = _join_value(value, newline=given.newline)
    if not data and not given.allow_empty:
        raise Refused(f"{given.named[0]!r} is empty, and allow_empty is False")
    return data


def _looked_up(ctx: Context, function: str, kind: str, key: object, delimiter: str) -> object:
    if isinstance(key, list):
        return [_looked_up(ctx, function, kind, item, delimiter) for item in key]
    missing = object()
    value = ctx.functions[function](key, missing, delimiter=delimiter)
    if value is missing:
        raise Refused(f"{kind} {key} does not exist")
    return value


def _join_value(value: object, *, newline: bool) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, list):
        if not value:
            raise Refused("contents is an empty list; give a text, or a list of texts")
        text = "\n".join(line for item in value if (line := _line(item)) or item not in ("", None))
    else:
        text = "" if value is None else str(value)
    if not newline:
        text = text.rstrip("\n")
    elif text and not text.endswith("\n"):
        text += "\n"
    return text.encode("utf-8", "surrogateescape")


def _line(item: object) -> str:
    if isinstance(item, list):
        return "\n".join(map(_line, item))
    if isinstance(item, Mapping):
        raise Refused("contents has a mapping where a line should be; is the indentation right?")
    return "" if item is None else str(item).removesuffix("\n")
