"""The job call that a verb with ``--on`` becomes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from msgspec import Struct

from saltern.cli.values import mapping_value
from saltern.language.returner_names import return_options


class Call(Struct, frozen=True, kw_only=True):
    """What a job calls on each system."""

    function: str
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    test: bool = False


def typed_return_options(args: SimpleNamespace) -> dict[str, object]:
    """The settings of returners that were typed."""
    return return_options(args.return_config, mapping_value("--return-kwargs", args.return_kwargs))
