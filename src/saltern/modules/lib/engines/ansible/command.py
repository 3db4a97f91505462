"""The command line of ``ansible-playbook``: every option of a state is a row. Nothing secret is on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from saltern.modules.api.commands import words
from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.lib.engines.scratch import Scratch, json_text, path_on_disk

Build = Callable[[str, object], list[str]]


def _one(flag: str, value: object) -> list[str]:
    if isinstance(value, Mapping | list):
        raise BadArgument(f"{flag.strip('-').replace('-', '_')} needs one value, got {value!r}")
    return [f"{flag}={value}"]


def _join_values(flag: str, value: object) -> list[str]:
    return [f"{flag}={','.join(map(str, value)) if isinstance(value, list) else value}"]


def _each(flag: str, value: object) -> list[str]:
    return [f"{flag}={one}" for one in (value if isinstance(value, list) else [value])]


def _switch(flag: str, value: object) -> list[str]:
    return [flag] if value else []


def _number(flag: str, value: object) -> list[str]:
    if isinstance(value, bool) or not str(value).isdigit():
        raise BadArgument(f"{flag.strip('-')} needs a number, got {value!r}")
    return [f"{flag}={value}"]


def _verbosity(_flag: str, value: object) -> list[str]:
    if not str(value).isdigit() or int(str(value)) > 6:
        raise BadArgument(f"verbosity is a number up to 6, got {value!r}")
    return ["-" + "v" * int(str(value))] if int(str(value)) else []


# argument of the state → the option, and how it is written
OPTIONS: dict[str, tuple[str, Build]] = {
    "tags": ("--tags", _join_values),
    "skip_tags": ("--skip-tags", _join_values),
    "limit": ("--limit", _join_values),
    "forks": ("--forks", _number),
    "become": ("--become", _switch),
    "become_user": ("--become-user", _one),
    "become_method": ("--become-method", _one),
    "become_password_file": ("--become-password-file", _one),
    "connection": ("--connection", _one),
    "connection_password_file": ("--connection-password-file", _one),
    "remote_user": ("--user", _one),
    "private_key": ("--private-key", _one),
    "vault_id": ("--vault-id", _each),
    "vault_password_file": ("--vault-password-file", _each),
    "module_path": ("--module-path", _each),
    "start_at_task": ("--start-at-task", _one),
    "flush_cache": ("--flush-cache", _switch),
    "force_handlers": ("--force-handlers", _switch),
    "check": ("--check", _switch),
    "diff": ("--diff", _switch),
    "syntax_check": ("--syntax-check", _switch),
    "list_hosts": ("--list-hosts", _switch),
    "list_tags": ("--list-tags", _switch),
    "list_tasks": ("--list-tasks", _switch),
    "verbosity": ("-v", _verbosity),
}
FILES = ("extra_vars", "inventory")  # passed to Ansible as files, since they may contain secrets
ALL = (*OPTIONS, *FILES)


def merge_arguments(given: Mapping[str, object], kwargs: Mapping[str, object] | None) -> dict[str, object]:
    """The arguments of a state, merged with Salt's ``ansible_kwargs``."""
    further = dict(kwargs or {})
    inner = further.pop("playbook_kwargs", None)
    if isinstance(inner, Mapping):
        further |= inner
    unknown = [name for name in further if name not in ALL]
    if unknown:
        raise BadArgument(f"ansible_kwargs has no {unknown[0]!r}; it may have {', '.join(ALL)}")
    return {name: value for name, value in {**given, **further}.items() if value not in (None, "")}


def options(given: Mapping[str, object]) -> list[str]:
    return [
        word for name in OPTIONS if name in given for word in OPTIONS[name][1](OPTIONS[name][0], given[name])
    ]


def extra_vars(scratch: Scratch, given: object) -> Iterator[str]:
    """A mapping, ``key=value …``, YAML, ``@file``, or a list of these; written to files."""
    for number, one in enumerate(given if isinstance(given, list) else [given]):
        if isinstance(one, str) and one.startswith("@"):
            yield f"--extra-vars={one}"
        else:
            yield f"--extra-vars=@{scratch.write(f'vars-{number}.json', _vars_text(one))}"


def _vars_text(value: object) -> str:
    if isinstance(value, Mapping):
        return json_text(value)
    if not isinstance(value, str):
        raise BadArgument(f"extra_vars needs mappings or texts, got {value!r}")
    if value.lstrip().startswith(("{", "-", "[")):
        return value
    pairs = [word.partition("=") for word in words(value)]
    if not all(sign for _, sign, _ in pairs):
        raise BadArgument("extra_vars as text needs key=value, YAML in braces, or @file")
    return json_text({key: text for key, _, text in pairs})


def inventory(ctx: Context, scratch: Scratch, given: object) -> Iterator[str]:
    """Paths, ``salt://`` files, ``host,host,`` lists, or a mapping as in a YAML inventory."""
    for number, one in enumerate(given if isinstance(given, list) else [given]):
        if isinstance(one, Mapping):
            yield f"--inventory={scratch.write(f'inventory-{number}.json', json_text(one))}"
        else:
            yield f"--inventory={path_on_disk(ctx, str(one))}"
