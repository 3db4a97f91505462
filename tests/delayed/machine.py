"""Shared by the tests of late values: a machine that registers what it knows, and states that ask for it."""

from __future__ import annotations

from tests.delayed.thing import result_of, run

from saltern.language.events import Report

VM = """
    vm:
      thing.made:
        - data: {ip: 10.0.0.7, port: 8080, up: true, load: 0.5, none: null, tags: [a, b], disk: {"a.b": sda}}
        - register: vm
    """


def using(value: str, more: str = "") -> str:
    return VM + f"\n    use:\n      thing.made:\n        - comment: said\n        - seen: {value}\n{more}"


def got(report: Report, path: str = "use") -> object:
    """What the state was really called with: it returns it as its data."""
    return result_of(report, path).data["seen"]


def late(value: str) -> object:
    """The value of an argument of a state that was called."""
    text = VM + f"\n    use:\n      thing.made:\n        - data:\n            seen: {value}\n"
    return got(run(text))
