"""``debconf``: answers to the questions that packages ask when they are installed."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.addresses import on_disk, read
from saltern.modules.lib.packages import debconf
from saltern.modules.lib.packages.model import PackageError

Rows = list[list[str]]


@function
def get_selections(ctx: Context, fetchempty: bool = True) -> dict[str, Rows]:
    """All answers by package, each as question and value; passwords are not shown.

    Args:
        fetchempty: also questions without an answer.

    Example:
        ```console
        $ saltern call debconf.get_selections
        ```
    """
    found: dict[str, Rows] = {}
    for question, known in sorted(debconf.known_answers(ctx).items()):
        if not known.value and not fetchempty:
            continue
        for owner in known.owners:
            found.setdefault(owner, []).append([question, _shown_value(known)])
    return found


@function
def show(ctx: Context, name: str) -> Rows | None:
    """The questions of a package with their answers; None if it has none.

    Example:
        ```console
        $ saltern call debconf.show mail
        local:
            |_
              - mail/mailname
              - web1.example.org
        ```
    """
    return get_selections(ctx).get(name)


@function(name="set")
def set_(ctx: Context, package: str, question: str, type: str, value: object, *extra: object) -> bool:
    """Answer a question of a package. Further arguments belong to the value.

    Example:
        ```console
        $ saltern call debconf.set mail mail/mailname string web1.example.org
        local:
            True
        ```
    """
    text = " ".join(map(str, (value, *extra))) if extra else value
    debconf.store(ctx, [debconf.answer(package, question, type, text)])
    return True


@function
def set_file(ctx: Context, path: str, saltenv: str | None = None) -> bool:
    """Answer questions from a file in the form of ``debconf-get-selections``.

    Example:
        ```console
        $ saltern call debconf.set_file salt://mail/answers
        local:
            True
        ```
    """
    place = on_disk(ctx, path, saltenv)
    if place is None:
        raise PackageError(f"the file {path} was not found")
    debconf.store(ctx, debconf.parse(read(place).decode("utf-8", "replace")))
    return True


def _shown_value(known: debconf.StoredAnswer) -> str:
    return "(password hidden)" if known.secret and known.value else known.value
