"""Exit codes with which a command asks for a reboot."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from saltern.language.result import Outcome, Result
from saltern.modules.api.commands import Done
from saltern.modules.api.params import BadArgument

USUAL: Mapping[int, str] = {194: "again", 195: "after"}
WORDS = ("again", "after")


def reboot_codes(given: object) -> Mapping[int, str]:
    """Code → ``again`` or ``after``; true for the default ones. Raises ``BadArgument`` for invalid values."""
    if given is None or given is False:
        return {}
    if given is True:
        return USUAL
    if not isinstance(given, Mapping):
        raise BadArgument(f"argument 'reboot_retcodes' needs true, or exit codes and words, not {given!r}")
    for code, word in given.items():
        if not str(code).isdigit() or word not in WORDS:
            raise BadArgument(
                f"argument 'reboot_retcodes' needs a code and 'again' or 'after', not {code!r}: {word!r}"
            )
    return {int(str(code)): str(word) for code, word in given.items()}


def with_reboot_request(answer: Result, done: Done, codes: Mapping[int, str]) -> Result:
    """The result of a command, which may ask for a reboot instead of failing."""
    word = codes.get(done.retcode) if done.retcode is not None else None
    if word is None or not done.started or done.timed_out:
        return answer
    comment = f"{answer.comment}; it asks for a reboot, with exit code {done.retcode}"
    return replace(answer, outcome=Outcome.OK, comment=comment, extra={**answer.extra, "reboot": word})
