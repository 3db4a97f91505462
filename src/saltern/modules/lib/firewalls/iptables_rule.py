"""A rule of iptables: the options of a state → arguments of iptables.

Options have the long names of iptables without the dashes (``to-ports``); ``connstate`` stands for
``--state``, ``if`` and ``of`` for the interfaces, ``name_`` for ``--name``. A value that begins with ``!`` or
``not`` negates an option.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from saltern.language.keywords import ENGINE_WORDS, INTERNAL
from saltern.modules.api.refused import Refused, one_line

# Arguments of the state; the rest of the options is the rule.
PLACE = frozenset({"chain", "command", "family", "full", "position", "rules", "save", "table"})

# Options by target, which iptables accepts only after the jump.
TARGET_OPTIONS: Mapping[str, str] = {
    "AUDIT": "type",
    "CHECKSUM": "checksum-fill",
    "CLASSIFY": "set-class",
    "CLUSTERIP": "new hashmode clustermac total-nodes local-node hash-init",
    "CONNMARK": "set-xmark save-mark restore-mark nfmask ctmask and-mark or-mark xor-mark set-mark mask",
    "CONNSECMARK": "save restore",
    "CT": "notrack helper ctevents expevents zone zone-orig zone-reply timeout",
    "DNAT": "to-destination random persistent",
    "DNPT": "src-pfx dst-pfx",
    "DSCP": "set-dscp set-dscp-class",
    "ECN": "ecn-tcp-remove",
    "HL": "hl-set hl-dec hl-inc",
    "HMARK": (
        "hmark-tuple hmark-mod hmark-offset hmark-src-prefix hmark-dst-prefix hmark-sport-mask "
        "hmark-dport-mask hmark-spi-mask hmark-proto-mask hmark-rnd"
    ),
    "IDLETIMER": "label",
    "LED": "led-trigger-id led-delay led-always-blink",
    "LOG": "log-level log-prefix log-tcp-sequence log-tcp-options log-ip-options log-uid",
    "MASQUERADE": "to-ports to-port random-fully",
    "NETMAP": "to",
    "NFLOG": "nflog-group nflog-prefix nflog-range nflog-size nflog-threshold",
    "NFQUEUE": "queue-num queue-balance queue-bypass queue-cpu-fanout",
    "RATEEST": "rateest-name rateest-interval rateest-ewmalog",
    "REJECT": "reject-with",
    "SECMARK": "selctx",
    "SET": "add-set del-set map-set exist",
    "SNAT": "to-source nodst",
    "SYNPROXY": "mss wscale sack-perm timestamp",
    "TCPMSS": "set-mss clamp-mss-to-pmtu",
    "TCPOPTSTRIP": "strip-options",
    "TEE": "gateway",
    "TOS": "set-tos and-tos or-tos xor-tos",
    "TPROXY": "on-port on-ip tproxy-mark",
    "TTL": "ttl-set ttl-dec ttl-inc",
    "ULOG": "ulog-nlgroup ulog-prefix ulog-cprange ulog-qthreshold",
    "others": (
        "addr and-mask delude honeypot or-mask prefix reset reuse set-mac shift static tarpit tname ttl"
    ),
}
AFTER_JUMP = frozenset(name for names in TARGET_OPTIONS.values() for name in names.split())
JUMPS: tuple[str, ...] = ("j", "jump", "goto")
TAKE_NAME = frozenset(("pknock", "quota2", "recent"))
NEGATED = re.compile(r"\s*(?:!\s*|not\s+)")


def words(options: Mapping[str, object]) -> list[str]:
    """The rule, as arguments of iptables. Raises ``Refused`` for an impossible rule."""
    left = {name: _plain(value, name) for name, value in options.items() if _belongs(name)}
    left = {name: value for name, value in left.items() if value is not False}
    if "target" in left:
        left["jump"] = left.pop("target")
    matches = [one.strip() for item in _as_list(left.pop("match", [])) for one in item.split(",")]
    if "proto" in left and "policy" not in matches:
        left["protocol"] = left.pop("proto")
    found = [
        *_take_option(left, "if", "-i"),
        *_take_option(left, "of", "-o"),
        *_protocol(left),
        *_matches(left, matches),
        *_sets(left),
        *_state(left, matches),
        *_take_option(left, "dport", "--dport"),
        *_take_option(left, "sport", "--sport"),
        *_multiport(left, matches),
        *_comment(left, matches),
        *_take_option(left, "set", "--match-set"),
    ]
    last: list[str] = [name for name in JUMPS if name in left]
    last += [name for name in left if name in AFTER_JUMP and name not in last]
    middle = [name for name in left if name not in last]
    for name in middle:
        found += _option(_flag(name), left[name])
    for name in last:
        found += _option(_flag(name), left[name], whole=True)
    return found


def text(rule: Iterable[str]) -> str:
    """The rule as text: values with blanks, and every comment, in double quotes."""
    shown: list[str] = []
    for word in rule:
        bare = word and not re.search(r"[\s\"'\\#]", word) and shown[-1:] != ["--comment"]
        shown.append(word if bare else '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"')
    return " ".join(shown)


def split(rule: str) -> list[str]:
    """A rule as text → arguments."""
    from saltern.modules.api.commands import words as shell_words

    return shell_words(rule)


def _belongs(name: str) -> bool:
    return name not in PLACE | ENGINE_WORDS | INTERNAL and not name.startswith("__")


def _plain(value: object, name: str) -> object:
    """The value: text, a list of texts, or False for an unwanted option; empty text for a switch."""
    if value is False:
        return False
    if value is None or value is True:
        return ""
    if isinstance(value, list | tuple):
        return [one_line(str(item), name) for item in value]
    if isinstance(value, str | int | float):
        return one_line(str(value), name)
    raise Refused(f"the option {name!r} needs a text, a number or a list, got {value!r}")


def _as_list(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def _flag(name: str) -> str:
    return f"-{name}" if len(name) == 1 else f"--{name}"


def _option(flag: str, value: object, *, whole: bool = False) -> list[str]:
    """One option; a list is joined with commas, and a text is split into words unless ``whole``."""
    joined = ",".join(_as_list(value))
    turned = NEGATED.match(joined)
    rest = joined[turned.end() :] if turned else joined
    values = [rest] if whole and rest else split(rest) if rest.strip() else []
    return [*(["!"] if turned else []), flag, *values]


def _take_option(left: dict[str, object], name: str, flag: str) -> list[str]:
    return _option(flag, left.pop(name)) if name in left else []


def _protocol(left: dict[str, object]) -> list[str]:
    if "protocol" not in left and left.keys() & {"dports", "sports"}:
        raise Refused("dports and sports need a protocol, such as proto: tcp")
    return _take_option(left, "protocol", "-p")


def _matches(left: dict[str, object], matches: list[str]) -> list[str]:
    found: list[str] = []
    for match in matches:
        found += ["-m", *split(match)]
        if match in TAKE_NAME:
            found += _take_option(left, "name_", "--name")
    return found + (_take_option(left, "proto", "--proto") if "policy" in matches else [])


def _sets(left: dict[str, object]) -> list[str]:
    found: list[str] = []
    for one in _as_list(left.pop("match-set", [])):
        found += ["-m", "set", *_option("--match-set", one)]
    return found


def _state(left: dict[str, object], matches: list[str]) -> list[str]:
    if "connstate" not in left:
        return []
    return [*([] if "state" in matches else ["-m", "state"]), *_take_option(left, "connstate", "--state")]


def _multiport(left: dict[str, object], matches: list[str]) -> list[str]:
    """Each kind of ports needs a match; the first may be given already."""
    found: list[str] = []
    for name in ("dports", "sports"):
        if name not in left:
            continue
        values = _as_list(left.pop(name))
        turned = any(NEGATED.match(one) for one in values)
        ports = ",".join(NEGATED.sub("", one, count=1).replace(" ", "") for one in values)
        named = "multiport" in matches and not found
        found += [*([] if named else ["-m", "multiport"]), *(["!"] if turned else []), f"--{name}", ports]
    return found


def _comment(left: dict[str, object], matches: list[str]) -> list[str]:
    if "comment" not in left:
        return []
    said = " ".join(_as_list(left.pop("comment")))
    return [*([] if "comment" in matches else ["-m", "comment"]), "--comment", said]
