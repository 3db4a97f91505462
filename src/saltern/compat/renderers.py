"""``_renderers``: the user's own, and those of an installed Salt that saltern does not have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import StringIO
from typing import TYPE_CHECKING, Any

from saltern.compat.adapt import SaltFunction

if TYPE_CHECKING:
    from saltern.compat.library import Library

Renderer = Callable[..., object]


def renderer(library: Library, name: str) -> Renderer | None:
    """``render(text, env=…, sls=…, path=…, argline=…, values=…, renderers=…)`` returns text or data; None if
    there is no such renderer. ``renderers`` are those that it may use itself.
    """
    own = library.own.member("renderers", f"{name}.render")
    found = own or library.installed.member("renderers", f"{name}.render")
    if not isinstance(found, SaltFunction):
        return None
    function: SaltFunction = found

    def render(
        text: object,
        *,
        env: str = "base",
        sls: str = "",
        path: str = "",
        argline: str = "",
        values: Mapping[str, object] | None = None,
        renderers: Mapping[str, Renderer] | None = None,
    ) -> object:
        more: dict[str, Any] = {"tmplpath": path, "renderers": renderers or {}}
        if own is not None:
            more["context"] = dict(values or {})  # Salt's renderers get none, and make their own
        if argline:
            more["argline"] = argline
        known = function.schema
        if known is not None and not known.open:
            more = {key: value for key, value in more.items() if key in known.params}
        # Salt's renderers expect a file.
        given = StringIO(text) if own is None and isinstance(text, str) else text
        made = function.body(library.call().ctx, given, env, sls, **more)
        return made.read() if hasattr(made, "read") else made

    return render
