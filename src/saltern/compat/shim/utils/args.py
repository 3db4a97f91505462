"""``salt.utils.args``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from saltern.compat.shim.exceptions import SaltInvocationError
from saltern.compat.shim.utils.data import is_true

KWARG_REGEX = re.compile(r"^([^\d\W][\w.-]*)=(?!=)(.*)$", re.UNICODE)


class ArgSpec(NamedTuple):
    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def clean_kwargs(**kwargs: Any) -> dict[str, Any]:
    """The keywords without the names that Salt itself adds."""
    return {key: value for key, value in kwargs.items() if not key.startswith("__")}


def invalid_kwargs(invalid_kwargs: Mapping[str, Any] | Iterable[str], raise_exc: bool = True) -> str:
    given = invalid_kwargs
    shown = [f"{key}={value}" for key, value in given.items()] if isinstance(given, Mapping) else list(given)
    message = f"these keyword arguments are not valid: {', '.join(shown)}"
    if raise_exc:
        raise SaltInvocationError(message)
    return message


def parse_kwarg(string_: str) -> tuple[str | None, str | None]:
    found = KWARG_REGEX.match(string_) if isinstance(string_, str) else None
    return (found[1], found[2]) if found else (None, None)


def yamlify_arg(arg: Any) -> Any:
    """The text as YAML reads it, if that is a plain value."""
    if not isinstance(arg, str) or not arg.strip() or "\n" in arg or "#" in arg:
        return arg
    from saltern.compat.shim.utils.yaml import YAMLError, safe_load

    try:
        return safe_load(arg)
    except YAMLError:
        return arg


def get_function_argspec(func: Callable[..., Any], is_class_method: bool | None = None) -> ArgSpec:
    """The arguments of a function."""
    import inspect

    spec = inspect.getfullargspec(func)
    args = spec.args[1:] if is_class_method or inspect.ismethod(func) else spec.args
    return ArgSpec(args, spec.varargs, spec.varkw, spec.defaults)


def arg_lookup(fun: Callable[..., Any], aspec: ArgSpec | None = None) -> dict[str, Any]:
    """``{"args": required arguments, "kwargs": those with a default}``."""
    spec = aspec or get_function_argspec(fun)
    defaults = spec.defaults or ()
    cut = len(spec.args) - len(defaults)
    return {"args": spec.args[:cut], "kwargs": dict(zip(spec.args[cut:], defaults, strict=True))}


def shlex_split(s: Any, **kwargs: Any) -> Any:
    import shlex

    return shlex.split(s, **kwargs) if isinstance(s, str) else s


def split_input(val: Any, mapper: Callable[[Any], Any] | None = None) -> list[Any]:
    """The list itself, or the parts between commas."""
    parts = val if isinstance(val, list) else [part.strip() for part in str(val).split(",")]
    return [mapper(part) for part in parts] if mapper else list(parts)


def test_mode(**kwargs: Any) -> bool:
    return any(key.lower() == "test" and is_true(value) for key, value in kwargs.items())


test_mode.__test__ = False  # type: ignore[attr-defined]  # no test, whatever its name says


def parse_function(s: str) -> tuple[str | None, list[Any] | None, dict[str, Any] | None]:
    """The parts of ``fun(1, a=b)``."""
    import ast

    try:
        call = ast.parse(s.strip(), mode="eval").body
        if not isinstance(call, ast.Call):
            return None, None, None
        args = [ast.literal_eval(arg) for arg in call.args]
        kwargs = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    except (SyntaxError, ValueError):
        return None, None, None
    return ast.unparse(call.func), args, kwargs


def prepare_kwargs(
    all_kwargs: Any, class_init_kwargs: Iterable[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The keywords for creating an object, and the others."""
    wanted = set(class_init_kwargs)
    cleaned = clean_kwargs(**all_kwargs)
    first = {key: value for key, value in cleaned.items() if key in wanted}
    return first, {key: value for key, value in cleaned.items() if key not in wanted}
