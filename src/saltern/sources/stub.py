"""The stub of a file that is rendered on a controller: systems get it in place of the text.

The first line of such a file is ``#!controller|jinja|yaml``; a template that such files import has the
comment ``{#!controller#}`` there. A stub has a token that has no meaning elsewhere, and the ``#!delayed_sls``
line of the file, whose words the run needs before it requests the file.
"""

from __future__ import annotations

CONTROLLER = "controller"  # the word before the renderers of a file
STUB = "#!controller stub "  # the beginning of every stub
# Not compiled here: every run imports this, and few runs need them.
_STUB = r"#!controller stub ([0-9a-f]{32})\n"
_MARKED = r"(?:#|\{#-?\s*|##\s*#?)!controller(?=[\s|#-]|$)"


def stub_text(token: str, words: str = "") -> str:
    """The stub of a file; ``words`` are those of its ``#!delayed_sls`` line."""
    tag = f"#!delayed_sls {words}\n" if words else ""
    return f"{STUB}{token}\n{tag}# rendered on the controller, which alone has the text\n"


def stub_token(text: str) -> str:
    """The token of a stub; empty for any other text."""
    import re

    found = re.match(_STUB, text)
    return found[1] if found else ""


def is_marked(text: str) -> bool:
    """True if the first line marks the file as rendered on a controller."""
    import re

    return re.match(_MARKED, text) is not None
