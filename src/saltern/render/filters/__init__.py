"""The filters and tests that state files have in addition to Jinja's.

``FILTERS`` and ``TESTS`` say where each is; none is imported before a template uses it.
A filter is a plain function with the value first. What it raises reaches the template as one error
that names the filter, so filters raise ``ValueError`` and ``TypeError`` and know nothing of Jinja.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

Filter = Callable[..., Any]

# Module by module; the function has the name of the filter, unless it is in RENAMED.
_MODULES = {
    "data": """
        traverse json_query flatten compare_dicts compare_lists sorted_ignorecase substring_in_list
        is_list is_iter exactly_n_true exactly_one_true to_entries from_entries random_sample random_shuffle
        json_decode_dict json_decode_list json_encode_dict json_encode_list mysql_to_dict method_call skip
    """,
    "nested": "set_dict_key_value update_dict_key_value append_dict_key_value extend_dict_key_value",
    "sets": "unique union intersect difference symmetric_difference avg sequence",
    "iterators": "combinations combinations_with_replacement compress permutations product zip_longest",
    "strings": """
        regex_search regex_match regex_replace regex_escape is_hex contains_whitespace
        to_camelcase to_snake_case check_whitelist_blacklist indent quote
    """,
    "convert": "to_bool to_num to_bytes human_to_bytes",
    "dates": "strftime",
    "crypto": """
        md5 sha1 sha256 sha512 hmac_compute base64_encode base64_decode
        random_hash random_str file_hashsum
    """,
    "serialize": """
        tojson dict_to_sls_yaml_params yaml_encode yaml_dquote yaml_squote load_yaml load_json load_text
    """,
    "xml": "xml",
    "addresses": """
        is_ip is_ipv4 is_ipv6 ipaddr ipv4 ipv6 ip_host network_hosts network_size filter_by_networks ipwrap
    """,
    "subnets": """
        ip_to_int int_to_ipv4 int_to_ipv6 nth_host network_subnets cidr_merge cidr_to_ipv4_netmask slaac
    """,
    "hosts": "gen_mac mac_str_to_bytes dns_check",
    "http": "http_query",
    "files": "is_empty is_text_file is_bin_file list_files path_join which get_uid",
}

# Aliases, and names that Python already uses.
_RENAMED = {
    "min": "sets:smallest",
    "max": "sets:largest",
    "zip": "iterators:zip_shortest",
    "str_to_num": "convert:to_num",
    "date_format": "dates:strftime",
    "hmac": "crypto:hmac_matches",
    "rand_str": "crypto:random_hash",
    "uuid": "crypto:uuid_of",
    "yaml": "serialize:to_yaml",
    "json": "serialize:to_json",
    "python": "serialize:to_python",
    "pprint": "serialize:to_python",
}

FILTERS: dict[str, str] = {
    name: f"{module}:{name}" for module, names in _MODULES.items() for name in names.split()
} | _RENAMED

TESTS: dict[str, str] = {"match": "strings:matches", "equalto": "data:equal", "list": "data:is_list"}

# Their result depends on more than their arguments. Jinja computes a filter of constants once, when
# it compiles, and compiled templates are kept on disk: these must be evaluated at each render.
IMPURE = frozenset(
    {
        *("random_sample", "random_shuffle", "random_hash", "rand_str", "random_str", "gen_mac"),
        *("strftime", "date_format"),
        *("dns_check", "http_query"),
        *("file_hashsum", "is_empty", "is_text_file", "is_bin_file", "list_files", "which", "get_uid"),
    }
)

# Filters that use the machine or the network; refused in an untrusted tree.
OF_THE_MACHINE = frozenset(
    {
        *("dns_check", "http_query"),
        *("file_hashsum", "is_empty", "is_text_file", "is_bin_file", "list_files", "which", "get_uid"),
    }
)


@cache
def resolve(name: str) -> Filter:
    """The filter of this name, imported if needed. Raises ``KeyError`` if there is none."""
    return _name_errors(f"filter {name!r}", _load(FILTERS[name]))


@cache
def resolve_test(name: str) -> Filter:
    """The test (``x is name``) of this name."""
    return _name_errors(f"test {name!r}", _load(TESTS[name]))


def _load(place: str) -> Filter:
    module, _, function = place.partition(":")
    found: Filter = getattr(import_module(f"{__name__}.{module}"), function)
    return found


def _name_errors(title: str, body: Filter) -> Filter:
    """Turn errors of a filter into a template error that names it."""
    from jinja2 import TemplateError, TemplateRuntimeError

    def call(*args: object, **kwargs: object) -> object:
        try:
            return body(*args, **kwargs)
        except (TemplateError, RecursionError, MemoryError, OverflowError):
            raise  # these have their own messages
        except Exception as problem:
            raise TemplateRuntimeError(f"{title}: {_reason(problem, body.__name__)}") from problem

    call.__name__ = body.__name__
    call.__doc__ = body.__doc__
    return call


def _reason(problem: Exception, function: str) -> str:
    """The error message, without the names of our functions."""
    if isinstance(problem, KeyError):
        return f"there is no key {problem}"
    return str(problem).replace(f"{function}() ", "") or type(problem).__name__


def _asked_at_each_render(body: Filter) -> Filter:
    from jinja2 import pass_context

    @pass_context
    def late(_context: object, *args: object, **kwargs: object) -> object:
        return body(*args, **kwargs)

    late.__name__ = body.__name__
    return late


def _make_refusal(name: str) -> Filter:
    from jinja2 import pass_context

    from saltern.system.guard import REFUSED, Refused

    @pass_context  # so that it is not evaluated when the template is compiled
    def refuse(_context: object, *_: object, **__: object) -> object:
        raise Refused(1, f"{REFUSED}: the filter {name!r}")

    return refuse


class _Lazy(dict[str, Any]):
    """Functions by name; ours are imported when first used."""

    places: Mapping[str, str] = {}

    def __init__(self, own: Mapping[str, object]) -> None:
        super().__init__(own)
        self.update(dict.fromkeys(self.places))

    def make(self, name: str) -> Filter:
        raise NotImplementedError

    def __getitem__(self, name: str) -> Any:
        found = super().__getitem__(name)
        if found is None:
            found = self[name] = self.make(name)
        return found

    def get(self, name: str, default: object = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default

    def values(self) -> Any:
        return {name: self[name] for name in self}.values()

    def items(self) -> Any:
        return {name: self[name] for name in self}.items()


class LazyFilters(_Lazy):
    """``Environment.filters``: Jinja's own, overridden by ours. ``refused`` filters exist but raise."""

    places = FILTERS

    def __init__(self, own: Mapping[str, object], refused: frozenset[str] = frozenset()) -> None:
        super().__init__(own)
        self._refused = refused

    def make(self, name: str) -> Filter:
        if name in self._refused:
            return _make_refusal(name)
        found = resolve(name)
        return _asked_at_each_render(found) if name in IMPURE else found


class LazyTests(_Lazy):
    """``Environment.tests``: Jinja's own, overridden by ours."""

    places = TESTS

    def make(self, name: str) -> Filter:
        return resolve_test(name)
