"""``salt.utils.functools``."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


def _copy_function(function: Any, name: str, space: dict[str, Any]) -> FunctionType:
    made = FunctionType(function.__code__, space, name, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    return made


def namespaced_function(function: Any, global_dict: dict[str, Any], *_: Any, **__: Any) -> FunctionType:
    """The function as if it were defined in the module with these globals."""
    for key, value in function.__globals__.items():
        global_dict.setdefault(key, value)
    made = _copy_function(function, function.__name__, global_dict)
    made.__doc__ = function.__doc__
    return made


def alias_function(fun: Any, name: str, doc: str | None = None) -> FunctionType:
    made = _copy_function(fun, name, fun.__globals__)
    made.__doc__ = doc or f"The same as ``{fun.__name__}``.\n\n{fun.__doc__ or ''}"
    return made


def call_function(salt_function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function with arguments as in SLS files: values, and mappings of keywords."""
    plain = [arg for arg in args if not isinstance(arg, dict)]
    named = {key: value for arg in args if isinstance(arg, dict) for key, value in arg.items()}
    return salt_function(*plain, **named, **kwargs)
