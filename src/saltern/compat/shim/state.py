"""``salt.state``: the words of the language, which some modules drop from their keywords."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.language.keywords import ENGINE_WORDS, INTERNAL, KEYWORDS
from saltern.language.requisites import IN_FORMS, REQUISITES

STATE_REQUISITE_KEYWORDS = frozenset(REQUISITES)
STATE_REQUISITE_IN_KEYWORDS = frozenset(IN_FORMS)
STATE_RUNTIME_KEYWORDS = frozenset(KEYWORDS) | INTERNAL
STATE_INTERNAL_KEYWORDS = (ENGINE_WORDS | INTERNAL | {"__pub_user", "__pub_jid"}) - {
    "name",
    "names",
    "aggregate",
}


def _gen_tag(low: Mapping[str, object]) -> str:
    return "{state}_|-{__id__}_|-{name}_|-{fun}".format(**low)
