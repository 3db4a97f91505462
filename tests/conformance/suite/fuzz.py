#!/usr/bin/env python3
# mypy: ignore-errors
# ruff: noqa
# fmt: off
"""Seeded generator of random SLS trees, laid out as cases.

    python3 fuzz.py SEED DIR     write the case of one seed to DIR and name its files

The same seed gives the same tree everywhere: only random.random() is drawn from, whose
sequence Python keeps stable. Most trees compile; some are broken on purpose.
"""

import hashlib
import json
import os
import random
import re
import shutil
import sys

WORDS = (
    "amber birch cedar delta ember fjord grove heath inlet jetty kelp larch moss north "
    "oasis pine quartz reef stone tarn umber vale willow xenia yew zephyr"
).split()
FUNCTIONS = (
    (30, "test.nop"),
    (26, "test.succeed_with_changes"),
    (10, "test.succeed_without_changes"),
    (7, "test.fail_without_changes"),
    (4, "test.fail_with_changes"),
    (14, "test.configurable_test_state"),
    (5, "cmd.run"),
)
KINDS = (
    (24, "require"),
    (5, "require_any"),
    (12, "watch"),
    (4, "watch_any"),
    (10, "onchanges"),
    (4, "onchanges_any"),
    (8, "onfail"),
    (3, "onfail_any"),
    (3, "onfail_all"),
    (5, "listen"),
    (3, "use"),
    (7, "require_in"),
    (6, "watch_in"),
    (5, "onchanges_in"),
    (3, "onfail_in"),
    (4, "listen_in"),
    (2, "use_in"),
)
FAULTS = (
    "missing-require",
    "missing-in",
    "cycle",
    "self-require",
    "duplicate-id",
    "bad-yaml",
    "undefined",
    "missing-include",
    "require-not-list",
    "two-functions",
    "bad-extend",
    "no-function",
    "trailing-colon",
    "dotted-requisite",
)


class Dice:
    def __init__(self, seed):
        self._random = random.Random(seed).random

    def chance(self, p):
        return self._random() < p

    def below(self, n):
        return int(self._random() * n)

    def between(self, lo, hi):
        return lo + self.below(hi - lo + 1)

    def pick(self, seq):
        return seq[self.below(len(seq))]

    def weighted(self, pairs):
        total = sum(w for w, _ in pairs)
        at = self._random() * total
        for weight, value in pairs:
            at -= weight
            if at < 0:
                return value
        return pairs[-1][1]

    def shuffled(self, seq):
        out = list(seq)
        for i in range(len(out) - 1, 0, -1):
            j = self.below(i + 1)
            out[i], out[j] = out[j], out[i]
        return out

    def sample(self, seq, k):
        return self.shuffled(seq)[:k]


# ---------------------------------------------------------------------------- model


class State:
    def __init__(self, ident, fun, sls):
        self.id, self.fun, self.sls = ident, fun, sls
        self.module = fun.split(".")[0]
        self.name = None
        self.names = []
        self.args = []
        self.reqs = []
        self.rank = 0
        self.prereq_target = False
        self.prereq_user = False
        self.donor = False
        self.style = "dotted"
        self.second = None

    @property
    def shown(self):
        return self.name or self.id

    @property
    def reacts(self):
        """May watch or listen. Salt's configurable_test_state cannot: its own changes
        argument is taken for the answer's. A prereq target must not: see README."""
        return self.fun != "test.configurable_test_state" and not self.prereq_target


class Sls:
    def __init__(self, name, init):
        self.name, self.init = name, init
        self.include = []
        self.exclude = []
        self.extend = {}
        self.states = []

    @property
    def path(self):
        return self.name.replace(".", "/") + ("/init.sls" if self.init else ".sls")


class Tree:
    """Everything one seed decides."""

    def __init__(self, seed):
        self.seed = seed
        self.dice = Dice(seed)
        self.config = {}
        self.fault = None
        self.make_files()
        self.make_states()
        self.make_requisites()
        self.make_extends()
        self.make_excludes()
        self.make_settings()
        if self.dice.chance(0.13):
            self.fault = self.dice.pick(FAULTS)

    # -- files

    def make_files(self):
        d = self.dice
        count = d.weighted(((3, 1), (4, 2), (4, 3), (2, 4), (2, 5)))
        names = ["main"]
        pool = d.shuffled(["alpha", "web", "web.site", "web.conf", "db", "lib.core", "lib.zone.deep"])
        names += pool[: count - 1]
        self.files = []
        for name in names:
            is_parent = any(other.startswith(name + ".") for other in names)
            init = name != "main" and (is_parent or d.chance(0.15))
            self.files.append(Sls(name, init))
        # Each later file is included by an earlier one, now and then by two; a file may
        # also include an earlier one, which Salt takes as already done.
        for i, sls in enumerate(self.files[1:], 1):
            d.pick(self.files[:i]).include.append(sls.name)
            if d.chance(0.2):
                other = d.pick(self.files[:i])
                if sls.name not in other.include:
                    other.include.append(sls.name)
        if len(self.files) > 1 and d.chance(0.08):
            d.pick(self.files[1:]).include.append("main")
        for sls in self.files:
            sls.include = d.shuffled(sls.include)

    def within(self, name):
        """The file itself and all it includes."""
        found, todo = set(), [name]
        while todo:
            one = todo.pop()
            if one not in found:
                found.add(one)
                todo += next(s for s in self.files if s.name == one).include
        return found

    # -- states

    def make_states(self):
        d = self.dice
        total = d.weighted(((5, d.between(5, 12)), (4, d.between(13, 25)), (2, d.between(26, 60))))
        self.states = []
        used = set()
        for _ in range(total):
            while True:
                ident = f"{d.pick(WORDS)}_{d.below(100)}"
                if ident not in used:
                    used.add(ident)
                    break
            sls = d.pick(self.files)
            state = State(ident, d.weighted(FUNCTIONS), sls)
            self.fill(state)
            sls.states.append(state)
            self.states.append(state)
        # A requisite only points from a higher rank to a lower one, so there are few
        # cycles. Random ranks let requisites point both up and down a file; layered ones
        # put included files below the files that include them, which whole-file
        # requisites need.
        self.layered = len(self.files) > 1 and d.chance(0.4)
        mixed = d.shuffled(self.states)
        if self.layered:
            mixed.sort(key=lambda s: -self.files.index(s.sls))
        for rank, state in enumerate(mixed):
            state.rank = rank
        roles = d.shuffled(self.states)
        for state in roles[: total // 8]:
            state.prereq_target = not state.names
        for state in roles[total // 8: total // 4]:
            state.prereq_user = state.fun not in ("test.fail_without_changes", "test.fail_with_changes")
        for state in roles[total // 4: total // 4 + total // 10]:
            state.donor = True

    def fill(self, state):
        d = self.dice
        if state.fun == "cmd.run":
            state.name = d.weighted(((5, "true"), (2, "false"), (2, "exit 0"), (1, "exit 2")))
        elif d.chance(0.12):
            state.name = f"{d.pick(WORDS)} {d.below(30)}"
        elif d.chance(0.07):
            state.names = [f"{state.id}-{c}" for c in d.sample("abcde", d.between(1, 3))]
        if state.fun == "test.configurable_test_state":
            state.args.append({"changes": d.chance(0.5)})
            state.args.append({"result": d.chance(0.8)})
        elif state.module == "test" and d.chance(0.2):
            state.args.append({"comment": f"says {d.pick(WORDS)}"})
        if d.chance(0.12):
            state.args.append({"order": self.order()})
        if d.chance(0.02):
            state.args.append({"failhard": True})
        if d.chance(0.05):
            guard = d.pick(("onlyif", "unless"))
            state.args.append({guard: d.pick(("true", "false"))})
        if d.chance(0.05) and state.module == "test":
            state.second = d.pick(("true", "false"))
        if not state.args and d.chance(0.3):
            state.style = d.pick(("short", "split", "inline"))
        elif d.chance(0.15):
            state.style = "split"

    def order(self):
        d = self.dice
        return d.weighted((
            (5, d.between(0, 12)),
            (2, "first"),
            (3, "last"),
            (3, -d.between(1, 9)),
            (1, 9999 + d.below(30)),
            (1, 30000),
        ))

    # -- requisites

    def make_requisites(self):
        d = self.dice
        density = d.pick((0.3, 0.6, 0.9, 1.3))
        self.wild = d.chance(0.05)
        for state in self.states:
            if state.donor:
                continue
            count = 0
            while d.chance(density / (density + 1.0)) and count < 4:
                self.add_requisite(state)
                count += 1
        users = [s for s in self.states if s.prereq_user]
        targets = [s for s in self.states if s.prereq_target]
        for user in users:
            fits = [t for t in targets if t.rank > user.rank]
            if fits and d.chance(0.6):
                target = d.pick(fits)
                if d.chance(0.75):
                    user.reqs.append(("prereq", [self.reference(user, target)]))
                else:
                    target.reqs.append(("prereq_in", [{user.module: user.id}]))

    def add_requisite(self, state):
        d = self.dice
        kind = d.weighted(KINDS)
        if any(k == kind for k, _ in state.reqs):
            return
        if kind in ("watch", "watch_any", "listen") and not state.reacts:
            return
        into = kind.endswith("_in")
        if kind in ("use", "use_in"):
            donors = [s for s in self.states if s.donor and s is not state and s.module == state.module]
            if not donors:
                return
            donor = d.pick(donors)
            if kind == "use":
                state.reqs.append(("use", [{donor.module: donor.id}]))
            elif not any(k == "use_in" for k, _ in donor.reqs):
                donor.reqs.append(("use_in", [{state.module: state.id}]))
            return
        free = kind.startswith("listen") or self.wild
        pool = [
            s for s in self.states
            if s is not state and (free or (s.rank > state.rank if into else s.rank < state.rank))
            and not (kind in ("watch_in", "listen_in") and not s.reacts)
            and not (into and s.donor)
        ]
        if not pool:
            return
        chosen = d.sample(pool, d.weighted(((6, 1), (3, 2), (1, 3))))
        refs = []
        for target in chosen:
            if into:
                bare = kind != "listen_in" and d.chance(0.1)
                refs.append(target.id if bare else {target.module: target.id})
            else:
                refs.append(self.reference(state, target, plain=kind == "listen"))
        state.reqs.append((kind, refs))

    def reference(self, state, target, plain=False):
        """One way to write a requisite on target that stays free of cycles."""
        d = self.dice
        way = d.weighted(((60, "id"), (10, "name"), (12, "bare"), (5, "idkey"), (7, "glob"),
                          (30 if self.layered else 6, "sls")))
        if plain and way in ("glob", "sls", "idkey"):
            way = "id"
        if way == "name":
            twins = [s for s in self.states if s.shown == target.shown and s.module == target.module]
            if all(t.rank < state.rank for t in twins) or state.prereq_user and len(twins) == 1:
                return {target.module: d.pick(target.names) if target.names else target.shown}
        if way in ("bare", "idkey"):
            if self.safe(state, target, [s for s in self.states if s.id == target.id]):
                return target.id if way == "bare" else {"id": target.id}
        if way == "glob":
            pattern = target.id.split("_")[0] + "_*"
            rx = re.compile(target.id.split("_")[0] + "_.*")
            hits = [s for s in self.states
                    if s.module == target.module and (rx.fullmatch(s.id) or rx.match(s.shown))]
            if self.safe(state, target, hits):
                return {target.module: pattern}
        if way == "sls" and target.sls is not state.sls:
            inside = self.within(target.sls.name)
            hits = [s for s in self.states if s.sls.name in inside]
            if self.safe(state, target, hits):
                return {"sls": target.sls.name}
        return {target.module: target.id}

    def safe(self, state, target, hits):
        """All hits lie on the same side of state as the target does."""
        if self.wild:
            return True
        if state in hits:
            return False
        if target.rank > state.rank:
            return all(h.rank > state.rank and h.prereq_target for h in hits)
        return all(h.rank < state.rank for h in hits)

    # -- extend, exclude, settings

    def make_extends(self):
        d = self.dice
        self.extended = set()
        if len(self.files) == 1 and not d.chance(0.2):
            return
        for sls in self.files:
            if not d.chance(0.25):
                continue
            inside = self.within(sls.name)
            pool = [s for s in self.states if s.sls.name in inside and not s.donor]
            for state in d.sample(pool, d.between(1, 2)):
                if state.id in sls.extend or state.id in self.extended:
                    continue
                body = []
                what = d.weighted(((4, "arg"), (3, "fun"), (2, "order"), (4, "require")))
                if what == "fun" and state.module == "test" and not state.prereq_user:
                    body.append(d.pick(("nop", "succeed_with_changes", "succeed_without_changes")))
                elif what == "order":
                    body.append({"order": self.order()})
                elif what == "require":
                    pool2 = [s for s in self.states if s.rank < state.rank]
                    if pool2:
                        kind = d.pick(("require", "watch", "onchanges"))
                        if kind == "watch" and not state.reacts:
                            kind = "require"
                        target = d.pick(pool2)
                        body.append({kind: [{target.module: target.id}]})
                if not body:
                    body.append({"comment": f"extended {d.pick(WORDS)}"} if state.module == "test"
                                else {"order": self.order()})
                if state.fun == "test.configurable_test_state":
                    body = [x for x in body if not isinstance(x, str)] or [{"order": 3}]
                self.extended.add(state.id)
                sls.extend[state.id] = {state.module: body}

    def make_excludes(self):
        d = self.dice
        if not d.chance(0.08):
            return
        named = set()
        for state in self.states:
            for _, refs in state.reqs:
                for ref in refs:
                    named.update([ref] if isinstance(ref, str) else ref.values())
        pool = [s for s in self.states
                if s.id not in named and s.shown not in named and not s.reqs
                and s.id not in self.extended]
        if pool:
            d.pick(self.files).exclude.append({"id": d.pick(pool).id})

    def make_settings(self):
        d = self.dice
        if d.chance(0.05):
            self.config["failhard"] = True
        if d.chance(0.08):
            self.config["state_auto_order"] = False
        self.op = d.weighted((
            (66, "apply"), (12, "highstate"), (14, "show_lowstate"), (4, "show_sls"), (4, "show_highstate"),
        ))
        self.test = self.op in ("apply", "highstate") and d.chance(0.15)
        self.apply = ["main"]
        if len(self.files) > 1 and d.chance(0.2):
            extra = d.pick(self.files[1:]).name
            self.apply = d.shuffled(["main", extra])

    # -- text

    def body(self, state):
        items = []
        if state.name is not None:
            items.append({"name": state.name})
        if state.names:
            items.append({"names": list(state.names)})
        items += state.args
        items += [{kind: refs} for kind, refs in state.reqs]
        return items

    def state_text(self, state):
        items = self.body(state)
        fun = state.fun.split(".", 1)[1]
        if state.style == "short" and not items:
            return f"{state.id}: {state.fun}\n" if state.second is None else self._long(state, state.fun, [])
        if state.style == "inline" and not items and state.second is None:
            return f"{state.id}:\n  {state.fun}\n"
        if state.style == "split":
            return self._long(state, state.module, [fun] + items)
        return self._long(state, state.fun, items)

    def _long(self, state, key, items):
        body = {key: items}
        if state.second is not None:
            body["cmd.run"] = [{"name": state.second}]
        return emit({state.id: body})

    def file_text(self, sls):
        d = Dice(f"{self.seed}:{sls.name}")
        parts = []
        head = {}
        if sls.include:
            head["include"] = [self.include_text(sls, inc, d) for inc in sls.include]
        if sls.exclude:
            head["exclude"] = sls.exclude
        if sls.extend:
            head["extend"] = sls.extend
        blocks = [emit({k: v}) for k, v in head.items()]
        late = d.chance(0.15)
        if not late:
            parts += blocks
        for i, state in enumerate(sls.states):
            text = self.state_text(state)
            if d.chance(0.06):
                text = "{% if " + str(i) + " == " + str(i) + " %}\n" + text + "{% endif %}\n"
            elif d.chance(0.04):
                parts.append("{% if false %}\nnever_" + state.id + ":\n  test.nop: []\n{% endif %}\n")
            elif d.chance(0.05):
                text = "{% set who = '" + state.id + "' %}\n" + text.replace(state.id + ":", "{{ who }}:", 1)
            parts.append(text)
        if late:
            parts += blocks
        return "\n".join(parts) or "# nothing here\n"

    def include_text(self, sls, inc, d):
        parent = sls.name if sls.init else sls.name.rpartition(".")[0]
        if parent and inc.startswith(parent + ".") and d.chance(0.6):
            return "." + inc[len(parent) + 1:]
        return inc

    def texts(self):
        out = {"states/" + s.path: self.file_text(s) for s in self.files}
        if self.fault:
            self.break_it(out)
        if self.op in ("highstate", "show_lowstate", "show_highstate"):
            out["states/top.sls"] = emit({"base": {"*": self.apply}})
        meta = {
            "category": "fuzz-broken" if self.fault else {
                "apply": "fuzz-apply", "highstate": "fuzz-apply", "show_lowstate": "fuzz-low",
            }.get(self.op, "fuzz-high"),
            "about": f"seed {self.seed}" + (f", fault {self.fault}" if self.fault else ""),
            "op": self.op,
            "test": self.test,
        }
        if self.test and not self.fault:
            meta["category"] = "fuzz-test"
        if self.op in ("apply", "show_sls"):
            meta["sls"] = self.apply
        out["case.yaml"] = emit(meta)
        if self.config:
            out["config.yaml"] = emit(self.config)
        return out

    def break_it(self, out):
        d = Dice(f"{self.seed}:fault")
        sls = d.pick([s for s in self.files if s.states] or self.files)
        key = "states/" + sls.path
        idents = [s.id for s in sls.states] or ["nobody_here"]
        victim = d.pick(idents)
        module = next((s.module for s in sls.states if s.id == victim), "test")
        add = {
            "missing-require": f"zz_a:\n  test.nop:\n    - require:\n      - test: not_{victim}\n",
            "missing-in": f"zz_a:\n  test.nop:\n    - watch_in:\n      - test: not_{victim}\n",
            "cycle": (f"zz_a:\n  test.nop:\n    - require:\n      - {module}: {victim}\n"
                      f"    - require_in:\n      - {module}: {victim}\n"),
            "self-require": "zz_a:\n  test.nop:\n    - onchanges:\n      - test: zz_a\n",
            "duplicate-id": f"{victim}:\n  test.succeed_with_changes: []\n",
            "bad-yaml": "zz_a:\n  test.nop:\n    - a: 1\n   - b: 2\n",
            "undefined": "zz_a:\n  test.nop:\n    - comment: {{ not_defined_anywhere }}\n",
            "missing-include": None,
            "require-not-list": f"zz_a:\n  test.nop:\n    - require: {victim}\n",
            "two-functions": "zz_a:\n  test.nop:\n    - nop\n",
            "bad-extend": None,
            "no-function": "zz_a:\n  test:\n    - comment: x\n",
            "trailing-colon": "zz_a:\n  test.nop:\n",
            "dotted-requisite": f"zz_a:\n  test.nop:\n    - require:\n      - test.nop: {victim}\n",
        }[self.fault]
        if self.fault == "missing-include":
            out["states/main.sls"] = re.sub(
                r"\Ainclude:\n|^include:\n", "include:\n  - gone.away\n", out["states/main.sls"], count=1,
                flags=re.M,
            )
            if "gone.away" not in out["states/main.sls"]:
                out["states/main.sls"] = "include:\n  - gone.away\n\n" + out["states/main.sls"]
            return
        if self.fault == "bad-extend":
            text = "  zz_missing:\n    test:\n      - comment: x\n"
            if re.search(r"^extend:\n", out[key], flags=re.M):
                out[key] = re.sub(r"^extend:\n", "extend:\n" + text, out[key], count=1, flags=re.M)
            else:
                out[key] += "\nextend:\n" + text
            return
        out[key] += "\n" + add


# ----------------------------------------------------------------------------- YAML

_SAFE = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_]+)*")
_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}


def scalar(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if _SAFE.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value)


def emit(value, depth=0):
    """Block-style YAML for the plain structures used here."""
    pad = "  " * depth
    out = []
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, (dict, list)) and item:
                out.append(f"{pad}{scalar(key)}:\n" + emit(item, depth + 1))
            else:
                text = ("{}" if isinstance(item, dict) else "[]") if isinstance(item, (dict, list)) else scalar(item)
                out.append(f"{pad}{scalar(key)}: {text}\n")
    else:
        for item in value:
            if isinstance(item, dict):
                text = emit(item, depth + 1)
                out.append(f"{pad}- " + text[len(pad) + 2:])
            else:
                out.append(f"{pad}- {scalar(item)}\n")
    return "".join(out)


# ------------------------------------------------------------------------------ use


def seeds(text):
    """'0-199', '7', '3,5,9-12' -> numbers."""
    out = []
    for part in str(text).split(","):
        if not part:
            continue
        lo, _, hi = part.partition("-")
        out.extend(range(int(lo), int(hi or lo) + 1))
    return out


def generate(seed):
    return Tree(seed).texts()


def digest(texts):
    blob = json.dumps(texts, sort_keys=True).encode()
    return hashlib.sha256(blob).hexdigest()[:16]


def write_case(seed, path):
    """Write the case of one seed; returns the digest of its files."""
    texts = generate(seed)
    shutil.rmtree(path, ignore_errors=True)
    for rel, text in texts.items():
        full = os.path.join(path, rel)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as fh:
            fh.write(text)
    return digest(texts)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(write_case(int(sys.argv[1]), sys.argv[2]))
    for base, _, files in sorted(os.walk(sys.argv[2])):
        for name in sorted(files):
            print(os.path.relpath(os.path.join(base, name), sys.argv[2]))


if __name__ == "__main__":
    main()
