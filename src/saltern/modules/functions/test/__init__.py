"""``test``: functions that show how calls arrive; ``LAZY`` says which submodule has which function."""

from __future__ import annotations

LAZY: dict[str, str] = {
    **dict.fromkeys(
        (
            "arg",
            "arg_clean",
            "arg_repr",
            "arg_type",
            "cross_test",
            "echo",
            "false",
            "kwarg",
            "outputter",
            "ping",
            "true",
            "try",
        ),
        "calls",
    ),
    **dict.fromkeys(
        (
            "assertion",
            "collatz",
            "exception",
            "fib",
            "raise_exception",
            "rand_sleep",
            "rand_str",
            "random_hash",
            "retcode",
            "sleep",
            "stack",
        ),
        "work",
    ),
    **dict.fromkeys(("provider", "providers"), "providers"),
    **dict.fromkeys(
        (
            "conf_test",
            "get_opts",
            "module_report",
            "not_loaded",
            "opts_pkg",
            "version",
            "versions",
            "versions_information",
            "versions_report",
        ),
        "versions",
    ),
}
