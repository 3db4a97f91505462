"""Every argument of every built-in state beside Salt's: supported, or known by name with its effect."""

from __future__ import annotations

import pytest
from tools import arguments, passed_on

from saltern.modules.api.registry import Registry, schema
from saltern.modules.api.salt_arguments import (
    ALSO_READ,
    DECISIVE,
    MEANT,
    NO_EFFECT,
    TAKES_ARGUMENTS_OF,
    UNSAFE_TO_IGNORE,
    UNSUPPORTED,
)

REGISTRY = Registry()
ROWS = [
    (key, name)
    for table in (NO_EFFECT, UNSUPPORTED, UNSAFE_TO_IGNORE)
    for key, rows in table.items()
    for name in rows
]
# Passed on to what installs packages, whatever that is; and what old versions of Salt took.
PASSED_ON = frozenset({"pkg", "pkgrepo", "service", "virtualenv", "pip", "schedule", "cmd", "network"})

needs_salt = pytest.mark.skipif(not arguments.SALT.is_dir(), reason="no Salt here: see 'make salt'")


@pytest.fixture(scope="module")
def salt() -> dict[str, arguments.Signature]:
    return arguments.signatures()


@needs_salt
def test_salts_signatures_are_found_for_nearly_all_states(salt: dict[str, arguments.Signature]) -> None:
    missing = [key for key, _ in arguments.states(REGISTRY) if key not in salt]
    assert {key.partition(".")[0] for key in missing} <= {
        "augeas",
        "exec",
        "firewalld",
        "pdbedit",
        "puppet",
        "pyinfra",
        "saltcall",
        "saltern",
        "system",
        "terraform",
    }


@needs_salt
def test_every_argument_of_salt_is_supported_or_known_by_name(salt: dict[str, arguments.Signature]) -> None:
    unknown = {row.key: row.unknown for row in arguments.differences(REGISTRY, salt) if row.unknown}
    assert unknown == {}


@needs_salt
def test_every_argument_that_salt_passes_on_is_supported_or_known_by_name() -> None:
    found = dict(passed_on.unknown(REGISTRY))
    assert found.keys() > passed_on.PASSED_ON.keys()
    assert {key: names for key, names in found.items() if names} == {}


def test_an_argument_is_in_one_table_only() -> None:
    assert [row for row in set(ROWS) if ROWS.count(row) > 1] == []


@needs_salt
def test_every_default_is_salts_or_has_a_reason(salt: dict[str, arguments.Signature]) -> None:
    other = {(row.key, name) for row in arguments.differences(REGISTRY, salt) for name in row.defaults}
    assert other == set(arguments.OTHER_DEFAULTS)


@needs_salt
def test_every_row_names_an_argument_of_salt(salt: dict[str, arguments.Signature]) -> None:
    """By name, among the keywords that the function reads, or in its documentation."""

    def is_salts(key: str, name: str) -> bool:
        found = salt[key]
        return name in found.params or name in found.keywords or name in found.doc

    invented = [
        (key, name)
        for key, name in ROWS
        if key in salt and not is_salts(key, name) and key.partition(".")[0] not in PASSED_ON
    ]
    assert invented == []


@needs_salt
def test_what_salt_lets_pass_does_not_fail_a_state(salt: dict[str, arguments.Signature]) -> None:
    refusing = [
        key
        for key, ours in arguments.states(REGISTRY)
        if key in salt and salt[key].open and not (ours.open or ours.lenient)
    ]
    assert set(refusing) == arguments.STRICTER | arguments.REFUSED_BY_SALT


def test_a_parameter_that_is_accepted_is_read() -> None:
    assert arguments.unused_parameters(REGISTRY) == {}


def test_no_row_is_about_what_is_supported() -> None:
    supported = []
    for key, name in ROWS:
        function = REGISTRY.state(*key.split("."))
        assert function is not None, f"no state is called {key}"
        if name in schema(function).params:
            supported.append((key, name))
    assert supported == []


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(tuple(DECISIVE), id="decisive"),
        pytest.param(tuple(MEANT), id="meant"),
        pytest.param(tuple(TAKES_ARGUMENTS_OF), id="takes"),
        pytest.param(tuple(one for row in TAKES_ARGUMENTS_OF.values() for one in row), id="taken"),
        pytest.param(tuple(ALSO_READ), id="read"),
    ],
)
def test_tables_name_states_that_are_there(keys: tuple[str, ...]) -> None:
    assert [key for key in keys if REGISTRY.state(*key.split(".")) is None] == []


def test_decisive_arguments_are_arguments() -> None:
    for key, groups in DECISIVE.items():
        function = REGISTRY.state(*key.split("."))
        assert function is not None
        others = [REGISTRY.state(*one.split(".")) for one in TAKES_ARGUMENTS_OF.get(key, ())]
        known = {*schema(function).params, *(n for one in others if one for n in schema(one).params)}
        left = {name for group in groups for name in group} - known - {"unless", "onlyif", "creates"}
        assert left == set(), key
