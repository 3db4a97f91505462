"""Signing policies: fixed values for certificates, in the configuration or the pillar."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509 import extensions, names

KEY = "x509_signing_policies"


def policy_of(
    ctx: Context, name: object, ca_server: object = None, *, missing_is_empty: bool = False
) -> dict[str, object]:
    """The policy with a name, from the pillar or the configuration. Raises if there is none."""
    if ca_server:
        raise Refused(
            "ca_server is not supported; give signing_private_key and "
            "signing_cert, or sign on that machine and copy the certificate here"
        )
    if not name:
        return {}
    for policies in (ctx.pillar.get(KEY), ctx.opts.get(KEY)):
        if isinstance(policies, Mapping) and policies.get(str(name)):
            return short_words(_flat(policies[str(name)]))
    if missing_is_empty:
        return {}
    raise Refused(
        f"no signing policy is called {name!r}; define it under {KEY} in the pillar or the configuration"
    )


def _flat(policy: object) -> dict[str, object]:
    flat: dict[str, object] = {}
    for row in policy if isinstance(policy, list) else [policy]:
        if not isinstance(row, Mapping):
            raise Refused(f"a policy in {KEY} must be a mapping, or a list of mappings")
        flat |= {str(key): value for key, value in row.items()}
    return flat


def short_words(given: Mapping[str, object]) -> dict[str, object]:
    """The arguments with long and old names replaced by the current ones."""
    longer = {**names.ALIASES, **extensions.ALIASES, "algorithm": "digest"}
    return {longer.get(key, key): value for key, value in given.items()}


def merge_policy(policy: Mapping[str, object], given: Mapping[str, object]) -> dict[str, object]:
    """Merge the arguments with the policy, which wins. Subjects of the same form are merged by part."""
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
