"""``state``: apply a text, high data, one chunk, or another top file."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.state.access import or_problems, states
from saltern.modules.functions.state.apply import highstate, in_test_mode, single

TEXT, HIGH = "template-str", "high-data"  # names in place of a file's


def _apply_text(
    ctx: Context, name: str, text: str, test: bool | None, options: Mapping[str, object]
) -> object:
    given = {**options, "template": name, "text": text}
    return or_problems(lambda: states(ctx).apply((), given, test=in_test_mode(ctx, test)))


@function
def template_str(ctx: Context, /, tem: str, test: bool | None = None, **options: object) -> object:
    """Apply the text of an SLS.

    Args:
        tem: the text; it is rendered like a file.
        test: only report what would change.
        options: ``saltenv``, ``pillar`` and ``exclude``.

    Example:
        ```console
        $ saltern call state.template_str '{there: {test.nop: []}}'
        ```
    """
    return _apply_text(ctx, TEXT, str(tem), test, options)


@function
def high(ctx: Context, /, data: Mapping[str, object], test: bool | None = None, **options: object) -> object:
    """Apply high data, the result of rendering an SLS.

    Args:
        data: IDs, and the states below them.
        test: only report what would change.
        options: ``saltenv``, ``pillar`` and ``exclude``.

    Example:
        ```console
        $ saltern call state.high '{there: {test: [nop]}}'
        ```
    """
    text = msgspec.json.encode(data, enc_hook=str).decode()
    return _apply_text(ctx, HIGH, f"#!json\n{text}", test, options)


@function
def low(ctx: Context, /, data: Mapping[str, object], **options: object) -> object:
    """Apply one chunk of low data. Returns its result.

    Args:
        data: ``state``, ``fun``, ``name`` and the arguments of the state.
        options: accepted for compatibility with Salt.

    Example:
        ```console
        $ saltern call state.low '{state: test, fun: nop, name: there}'
        ```
    """
    del options
    if missing := [key for key in ("state", "fun", "name") if key not in data]:
        raise BadArgument(f"low data needs {', '.join(missing)}")
    rest = {str(key): value for key, value in data.items() if key not in ("state", "fun", "name")}
    answer = single(ctx, f"{data['state']}.{data['fun']}", str(data["name"]), **rest)  # type: ignore[arg-type]
    return next(iter(answer.values())) if isinstance(answer, dict) and len(answer) == 1 else answer


@function
def top(ctx: Context, /, topfn: str, test: bool | None = None, **options: object) -> object:
    """Apply the states of another top file for this machine.

    Args:
        topfn: the name of that file in the tree, such as ``prod_top.sls``.
        test: only report what would change.
        options: ``saltenv``, ``pillarenv``, ``pillar`` and ``exclude``.

    Example:
        ```console
        $ saltern call state.top prod_top.sls test=True
        ```
    """
    return highstate(ctx, test, **{**options, "state_top": str(topfn)})
