"""Signing policies: what the configuration or the pillar fixes for certificates of a kind."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509 import extensions, names

KEY = "x509_signing_policies"


def policy_of(
    ctx: Context, name: object, ca_server: object = None, *, missing_is_empty: bool = False
) -> dict[str, object]:
    """The policy of that name, from the pillar or the configuration. One that is not there is refused."""
    if ca_server:
        raise Refused(
            "ca_server is not supported: one machine has no other to ask; give signing_private_key and "
            "signing_cert, or sign on that machine and bring the certificate here"
        )
    if not name:
        return {}
    for place in (ctx.pillar, ctx.opts):
        policies = place.get(KEY)
        if isinstance(policies, Mapping) and policies.get(str(name)):
            return short_words(_flat(policies[str(name)]))
    if missing_is_empty:
        return {}
    raise Refused(f"no signing policy is called {name!r}; {KEY} in the pillar or the configuration has them")


def _flat(policy: object) -> dict[str, object]:
    flat: dict[str, object] = {}
    for row in policy if isinstance(policy, list) else [policy]:
        if not isinstance(row, Mapping):
            raise Refused(f"a policy in {KEY} must be a mapping, or a list of mappings")
        flat |= {str(key): value for key, value in row.items()}
    return flat


def short_words(given: Mapping[str, object]) -> dict[str, object]:
    """Long and old names of arguments, by the name that is used here."""
    longer = {**names.ALIASES, **extensions.ALIASES, "algorithm": "digest"}
    return {longer.get(key, key): value for key, value in given.items()}


def merged(policy: Mapping[str, object], given: Mapping[str, object]) -> dict[str, object]:
    """The policy wins. Subjects of one shape are joined, so that a policy can fix a part of the name."""
    if not policy:
        return dict(given)
    asked, fixed = dict(given), dict(policy)
    own, theirs = asked.get("subject"), fixed.get("subject")
    if own and any(names.is_part(word) for word in fixed):
        del asked["subject"]
    elif isinstance(theirs, dict) and isinstance(own, dict):
        fixed["subject"] = {**own, **theirs}
    elif isinstance(theirs, list) and isinstance(own, list):
        fixed["subject"] = [*theirs, *own]
    return {**asked, **fixed}
