"""The functions that are available in an untrusted tree: they only compute from their arguments.

``PURE`` lists them. All other names exist, so that a template can test for them, and raise
when they are called. Templates get plain functions and no objects of ours: nothing gives them access to
the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from saltern.system.guard import REFUSED, Refused

if TYPE_CHECKING:
    from saltern.modules.api.salt import Salt

_BY_MODULE = {
    "config": "get option merge dot_vals valid_fileproto manage_mode",
    "pillar": "get item raw ls keys fetch filter_by obfuscate",
    "grains": "get item items fetch ls has_value equals filter_by",
    "match": """
        compound glob grain grain_pcre list pcre pillar pillar_exact pillar_pcre filter_by search_by ifelse
    """,
    "defaults": "get merge deepcopy update",
    "slsutil": """
        merge merge_all update serialize deserialize boolstr banner file_exists dir_exists path_exists findup
        deepcopy
    """,
    "cp": "list_master list_master_dirs list_states envs",
    "test": "echo ping true false outputter arg arg_clean arg_type arg_repr kwarg version",
    "random": "get_str rand_int sample shuffle hash str_encode",
    "hashutil": """
        digest base64_b64encode base64_b64decode base64_encodestring base64_decodestring hmac_compute
        hmac_signature github_signature
    """,
    "file": "basename dirname join normpath pardir",
    "network": "ip_in_subnet calc_net convert_cidr is_loopback is_private reverse_ip iphexval",
}
PURE: frozenset[str] = frozenset(
    f"{module}.{name}" for module, names in _BY_MODULE.items() for name in names.split()
)


class PureSalt:
    """``salt`` in the templates of an untrusted tree."""

    def __init__(self, salt: Salt, why: str = REFUSED) -> None:
        """``why`` is the reason for refusing other functions."""
        self.__salt = salt  # the sandbox hides this name
        self.__why = why

    def __getitem__(self, name: str) -> Callable[..., object]:
        if not isinstance(name, str):
            raise KeyError(name)
        if name in PURE:
            return _alone(self.__salt[name])
        if name in self.__salt or REFUSED in self.unknown(name):
            return _make_refusal(name, self.__why)
        raise KeyError(name)

    def get(self, name: str, default: object = None) -> object:
        return self[name] if isinstance(name, str) and name in self else default

    def __contains__(self, name: object) -> bool:
        return name in self.__salt

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(PURE))

    def keys(self) -> list[str]:
        return sorted(PURE)

    def unknown(self, name: str) -> str:
        """Why there is no such function."""
        return self.__salt.unknown(name)

    def __getattr__(self, module: str) -> PureNamespace:
        if module.startswith("_") or not hasattr(self.__salt, module):
            raise AttributeError(module)
        return PureNamespace(self, module)


class PureNamespace:
    """``salt.mod``."""

    def __init__(self, salt: PureSalt, module: str) -> None:
        self.__salt, self.__module = salt, module

    def __getattr__(self, fun: str) -> Callable[..., object]:
        if fun.startswith("_"):
            raise AttributeError(fun)
        try:
            return self.__salt[f"{self.__module}.{fun}"]
        except KeyError:
            raise AttributeError(fun) from None

    def __getitem__(self, fun: str) -> Callable[..., object]:
        return self.__salt[f"{self.__module}.{fun}"]

    def __str__(self) -> str:
        return self.__module


def _alone(function: Callable[..., object]) -> Callable[..., object]:
    """The function as a closure: a partial would expose its arguments, and with them the context of the
    run.
    """

    def call(*args: object, **kwargs: object) -> object:
        return function(*args, **kwargs)

    return call


def _make_refusal(name: str, why: str) -> Callable[..., object]:
    def call(*_: object, **__: object) -> object:
        raise Refused(1, f"{why}: the function {name!r}")

    return call
