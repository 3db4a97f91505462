"""``file``: set owner, group and mode."""

# ruff: noqa: ARG001 - the signature is the interface

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import absolute, explain_errors
from saltern.modules.lib.files import owners
from saltern.system import files
from saltern.system.files import Attributes

Mode = str


def attributes_of(user: object, group: object, mode: object) -> Attributes:
    """The attributes from names or numbers: templates and commands may give either."""
    owner, owners_group = (None if value in (None, "") else str(value) for value in (user, group))
    with explain_errors("owner"):
        return owners.attributes_of(owner, owners_group, None if mode in (None, "") else octal(mode))


def octal(mode: object) -> str:
    text = str(mode)
    if not text or text.strip("01234567"):
        raise BadArgument(f"mode needs an octal number such as 0644, not {mode!r}")
    return text


@function
def chown(ctx: Context, path: str, user: str | None, group: str | None) -> None:
    """Change the owner; an empty name leaves it unchanged.

    Example:
        ```console
        $ saltern call file.chown /srv/app/list.txt ada staffers
        local:
            None
        ```
    """
    with explain_errors(path):
        files.set_attributes(absolute(path), attributes_of(user, group, None))


@function
def lchown(ctx: Context, path: str, user: str | None, group: str | None) -> None:
    """Change the owner of a link itself.

    Example:
        ```console
        $ saltern call file.lchown /srv/salt/web/issue ada staffers
        local:
            None
        ```
    """
    with explain_errors(path):
        files.set_attributes(absolute(path), attributes_of(user, group, None), follow=False)


@function
def chgrp(ctx: Context, path: str, group: str) -> None:
    """Change the group.

    Example:
        ```console
        $ saltern call file.chgrp /srv/app/list.txt staffers
        local:
            None
        ```
    """
    with explain_errors(path):
        files.set_attributes(absolute(path), attributes_of(None, group, None))


@function
def set_mode(ctx: Context, path: str, mode: Mode) -> str:
    """Change the mode. Returns the new one.

    Example:
        ```console
        $ saltern call file.set_mode /srv/app/list.txt 600
        local:
            0600
        ```
    """
    text = octal(mode)
    with explain_errors(path):
        files.set_attributes(absolute(path), Attributes(mode=int(text, 8)))
    return f"{int(text, 8):04o}"
