"""``http``: query web servers and check their responses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from saltern.language.mask import mask
from saltern.language.result import Outcome, Result, would_change
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.system.waits import report_wait

HARMLESS = ("GET", "HEAD", "OPTIONS")
USUAL_INTERVAL = 1.0
LONGEST_SHOWN = 200


def _pattern(wanted: str) -> re.Pattern[str]:
    try:
        return re.compile(wanted, re.MULTILINE)
    except re.error as problem:
        raise Refused(f"{wanted!r} is not a regular expression: {problem}") from None


MATCHES: dict[str, Callable[[str, str], bool]] = {
    "string": lambda wanted, text: wanted in text,
    "pcre": lambda wanted, text: _pattern(wanted).search(text) is not None,
}
STATUSES: dict[str, Callable[[object, str], bool]] = {
    "string": lambda wanted, code: str(wanted) == code,
    "list": lambda wanted, code: code in [str(one) for one in _each(wanted)],
    "pcre": lambda wanted, code: _pattern(str(wanted)).fullmatch(code) is not None,
}


def _each(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _check(match_type: str, status_type: str, match: object, status: object) -> None:
    if match is None and status is None:
        raise Refused("give 'match' for the text of the response, 'status' for its code, or both")
    for name, given, known in (("match_type", match_type, MATCHES), ("status_type", status_type, STATUSES)):
        if given not in known:
            raise Refused(f"no {name} is called {given!r}; use one of {', '.join(known)}")


class Asked:
    """One request and the check of its response."""

    def __init__(self, ctx: Context, url: str, kwargs: Mapping[str, object]) -> None:
        answer = ctx.functions["http.query"](url, **{**kwargs, "status": True, "text": True})
        assert isinstance(answer, dict)
        self.code = str(answer.get("status", ""))
        self.text = str(answer.get("text") or answer.get("body") or "")
        self.error = str(answer.get("error") or "")

    def judge(self, match: object, match_type: str, status: object, status_type: str) -> list[str]:
        """The problems of the response; none if it is right."""
        wrong = []
        if not self.code:
            return [f"no answer: {mask(self.error)}"]
        if match is not None and not MATCHES[match_type](str(match), self.text):
            wrong.append(f"Match text {str(match)[:LONGEST_SHOWN]!r} was not found")
        if status is not None and not STATUSES[status_type](status, self.code):
            wrong.append(f"Status was {self.code}, not {status}")
        return wrong


def _ask(
    ctx: Context,
    name: str,
    match: object,
    match_type: str,
    status: object,
    status_type: str,
    kwargs: Mapping[str, object],
) -> Result:
    _check(match_type, status_type, match, status)
    asked = Asked(ctx, name, kwargs)
    wrong = asked.judge(match, match_type, status, status_type)
    good = [f"Status {asked.code} was found"] if status is not None else []
    good += ["Match text was found"] if match is not None else []
    data: dict[str, object] = {"url": mask(name), "status": asked.code, "size": len(asked.text)}
    outcome = Outcome.FAILED if wrong else Outcome.OK
    return Result(outcome=outcome, comment=". ".join(wrong or good), data=data)


@state
def query(
    ctx: Context,
    /,
    name: str,
    *,
    match: object = None,
    match_type: str = "string",
    status: object = None,
    status_type: str = "string",
    wait_for: float | None = None,
    request_interval: float | None = None,
    method: str = "GET",
    test_url: str | None = None,
    **kwargs: object,
) -> Result:
    """Make sure that a web server responds as expected.

    In test mode only safe requests (``GET``, ``HEAD``, ``OPTIONS``) are sent, or one to ``test_url``.

    Args:
        name: the address.
        match: a text that must be in the response.
        match_type: ``string``, or ``pcre`` for a regular expression.
        status: the status code that the response must have.
        status_type: ``string``, ``list`` for one of several, or ``pcre``.
        wait_for: try again for this many seconds.
        request_interval: seconds between two attempts.
        method: ``GET``, ``POST`` …
        test_url: the URL to query in test mode.
        data, params, header_dict, username, password, decode, timeout and others: as in the function
            ``http.query``.

    Example:
        ```yaml
        http://localhost:8000/health:
          http.query:
            - status: 200
            - match: fine
        ```
    """
    ctx.facts = {"url": mask(name)}
    url = test_url if ctx.test and test_url else name
    if ctx.test and not test_url and method.upper() not in HARMLESS:
        _check(match_type, status_type, match, status)
        comment = f"{method.upper()} {mask(name)} would be requested"
        return would_change(comment, data={"url": mask(name)})
    given = {**kwargs, "method": method}

    def ask() -> Result:
        return _ask(ctx, url, match, match_type, status, status_type, given)

    if wait_for is None:
        return ask()
    return _until(ctx, ask, wait_for, request_interval)


@state
def wait_for_successful_query(
    ctx: Context,
    /,
    name: str,
    *,
    wait_for: float = 300,
    request_interval: float | None = None,
    **kwargs: object,
) -> Result:
    """Wait until a web server responds as expected.

    Args:
        name: the address.
        wait_for: the maximum number of seconds to wait.
        request_interval: seconds between two attempts; one if not given.
        match, match_type, status, status_type and others: as in ``query``.

    Example:
        ```yaml
        http://localhost:8000/health:
          http.wait_for_successful_query:
            - wait_for: 60
            - request_interval: 5
            - status: 200
        ```
    """
    body: Callable[..., Result] = query.body
    if ctx.test:
        return body(ctx, name, **kwargs)
    return body(ctx, name, wait_for=wait_for, request_interval=request_interval, **kwargs)


def _until(ctx: Context, ask: Callable[[], Result], seconds: float, interval: float | None) -> Result:
    """The first good result, or the last bad one. An invalid request is not repeated."""
    end = ctx.clock.tick() + seconds
    reported = False
    while True:
        result = ask()
        left = end - ctx.clock.tick()
        if result.outcome is Outcome.OK or left <= 0:
            return result
        if not reported:
            report_wait(f"a response as expected, for at most {seconds:g} seconds: {result.comment}", left)
            reported = True
        ctx.clock.sleep(min(interval or USUAL_INTERVAL, left))
