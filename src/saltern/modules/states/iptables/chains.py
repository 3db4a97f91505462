"""``iptables.chain_present`` and the like: chains as a whole."""

from __future__ import annotations

import re

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.firewalls import iptables
from saltern.modules.lib.firewalls.iptables import Place
from saltern.modules.states.iptables.desired_rules import file_of


@state
def chain_present(ctx: Context, name: str, *, table: str = "filter", family: str = "ipv4") -> Result:
    """Make sure that a chain exists.

    Args:
        name: the chain.
        table: the table it is in.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```yaml
        LOGDROP:
          iptables.chain_present: []
        ```
    """
    where = iptables.place(table, name, family)
    return bring(
        ctx,
        lambda: {} if name in iptables.read(ctx, where).policies else {"locale": name},
        lambda _: iptables.run(ctx, where, "-N", name),
        facts=lambda: _facts(ctx, where),
        words=_words(f"iptables chain {name} in table {table} for {family}", "already present", "created"),
    )


def _facts(ctx: Context, where: Place) -> Changes:
    found = iptables.read(ctx, where)
    known: Changes = {"table": where.table, "chain": where.chain, "family": where.family}
    if not where.chain:
        return known | {"rules": {chain: rules for chain, rules in found.rules.items() if rules}}
    return known | {
        "exists": where.chain in found.policies,
        "policy": found.policies.get(where.chain),
        "rules": found.rules.get(where.chain, []),
    }


def _words(what: str, already: str, verb: str) -> Words:
    return Words(f"{what} is {already}", f"{what} would be {verb}", f"{what} was {verb}")


@state
def chain_absent(ctx: Context, name: str, *, table: str = "filter", family: str = "ipv4") -> Result:
    """Make sure that a chain does not exist; its rules are removed with it.

    Args:
        name: the chain.
        table: the table it is in.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```yaml
        OLDCHAIN:
          iptables.chain_absent: []
        ```
    """
    where = iptables.place(table, name, family)

    def act(_: Changes) -> None:
        _check_unused(ctx, where)
        iptables.run(ctx, where, "-F", name)
        iptables.run(ctx, where, "-X", name)

    return bring(
        ctx,
        lambda: {"locale": name} if name in iptables.read(ctx, where).policies else {},
        act,
        facts=lambda: _facts(ctx, where),
        words=_words(f"iptables chain {name} in table {table} for {family}", "absent", "deleted"),
    )


def _check_unused(ctx: Context, where: Place) -> None:
    """Refuse to delete a built-in chain, or one that a rule jumps to, before its rules are removed."""
    if iptables.read(ctx, where).policies[where.chain] is not None:
        raise Refused(f"{where.chain} is built in and cannot be deleted")
    leads_here = re.compile(rf"(^| )-[jg] {re.escape(where.chain)}( |$)")
    for chain, rules in iptables.read(ctx, where).rules.items():
        for rule in rules if chain != where.chain else ():
            if leads_here.search(rule):
                raise Refused(
                    f"chain {where.chain} is in use: {chain} has the rule {rule}; delete that first"
                )


@state
def set_policy(
    ctx: Context,
    name: str,
    *,
    chain: str,
    policy: str,
    table: str = "filter",
    family: str = "ipv4",
    save: object = False,
) -> Result:
    """Set the policy of a built-in chain, for packets that no rule matches.

    Args:
        name: the name in the report.
        chain: the chain, such as ``INPUT``.
        policy: ``ACCEPT`` or ``DROP``.
        table: the table it is in.
        family: ``ipv4`` or ``ipv6``.
        save: true to save all rules to the file that the machine loads at boot, or the path of a file.

    Example:
        ```yaml
        nothing is forwarded:
          iptables.set_policy:
            - chain: FORWARD
            - policy: DROP
        ```
    """
    where, file, wanted = iptables.place(table, chain, family), file_of(ctx, save, family), policy.upper()

    def differs() -> Changes:
        policies = iptables.read(ctx, where).policies
        if policies.get(chain) is None:
            raise Refused(f"{chain} in table {table} is not a built-in chain; only those have a policy")
        if policies[chain] != wanted:
            return {"locale": name}
        return {"saved": file} if file and not iptables.policy_is_kept(ctx, where, file) else {}

    def act(changes: Changes) -> None:
        if "locale" in changes:
            iptables.run(ctx, where, "-P", chain, wanted)
        if file:
            iptables.save(ctx, family, file)

    return bring(
        ctx,
        differs,
        act,
        facts=lambda: _facts(ctx, where),
        words=_words(f"iptables policy of {chain} in table {table} for {family}", wanted, f"set to {wanted}"),
    )


@state
def flush(
    ctx: Context,
    name: str,
    *,
    chain: str = "",
    table: str = "filter",
    family: str = "ipv4",
    save: object = False,
) -> Result:
    """Make sure that a chain has no rules.

    Args:
        name: the name in the report.
        chain: the chain; all chains of the table if not given.
        table: the table.
        family: ``ipv4`` or ``ipv6``.
        save: true to save all rules to the file that the machine loads at boot, or the path of a file.

    Example:
        ```yaml
        no address is translated:
          iptables.flush:
            - table: nat
            - chain: POSTROUTING
        ```
    """
    where, file = iptables.place(table, chain, family, whole_table=True), file_of(ctx, save, family)

    def rules() -> dict[str, list[str]]:
        found = iptables.read(ctx, where).rules
        if chain and chain not in found and not ctx.test:  # in a test, an earlier state may make it
            raise Refused(f"there is no chain {chain} in table {table}")
        return {one: kept for one, kept in found.items() if kept and chain in ("", one)}

    def act(_: Changes) -> None:
        iptables.run(ctx, where, "-F", *([chain] if chain else []))
        if file:
            iptables.save(ctx, family, file)

    return bring(
        ctx,
        lambda: {"locale": name} if rules() else {},
        act,
        facts=lambda: _facts(ctx, where),
        words=_words(f"iptables {table} {chain}".rstrip() + f" for {family}", "empty", "flushed"),
    )
