# mypy: ignore-errors
# ruff: noqa
# fmt: off
"""Shared parts of the conformance suite: cases, normal form, comparison, Salt client."""

import base64
import fnmatch
import gzip
import json
import os
import re
import select
import shutil
import stat
import subprocess
import sys

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "cases")
EXPECTED = os.path.join(HERE, "expected")
FUZZ_EXPECTED = os.path.join(EXPECTED, "fuzz.jsonl.gz")
MINION_ID = "conformance"
OPS = (
    "apply",
    "highstate",
    "show_highstate",
    "show_lowstate",
    "show_top",
    "show_sls",
    "show_low_sls",
)
FACETS = ("comment", "scratch")


# --------------------------------------------------------------------------- cases


class Case:
    """One directory under cases/ (or one generated tree with the same layout)."""

    def __init__(self, path, name=None):
        self.path = path
        self.name = name or os.path.basename(path)
        with open(os.path.join(path, "case.yaml"), encoding="utf-8") as fh:
            meta = yaml.safe_load(fh) or {}
        self.meta = meta
        self.category = meta.get("category", "misc")
        self.disputed = meta.get("disputed")
        self.expect = meta.get("expect")
        self.compare = tuple(meta.get("compare") or ())
        bad = set(self.compare) - set(FACETS)
        if bad:
            raise ValueError(f"{self.name}: unknown compare facets {sorted(bad)}")
        base = {
            "op": meta.get("op", "apply"),
            "sls": meta.get("sls") or [],
            "test": bool(meta.get("test", False)),
            "pillar": meta.get("pillar") or {},
        }
        if isinstance(base["sls"], str):
            base["sls"] = [base["sls"]]
        self.steps = []
        for over in meta.get("steps") or [{}]:
            step = dict(base)
            step.update(over or {})
            if isinstance(step["sls"], str):
                step["sls"] = [step["sls"]]
            if step["op"] not in OPS:
                raise ValueError(f"{self.name}: unknown op {step['op']}")
            self.steps.append(step)

    def _load(self, filename):
        path = os.path.join(self.path, filename)
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as fh:
            return yaml.safe_load(fh) or {}

    def prepare(self, workdir):
        """Lay the case out under workdir; returns the requests (one for each step)."""
        shutil.rmtree(workdir, ignore_errors=True)
        scratch = os.path.join(workdir, "scratch")
        seed = os.path.join(self.path, "scratch")
        os.makedirs(workdir)
        if os.path.isdir(seed):
            shutil.copytree(seed, scratch, symlinks=True)
        else:
            os.makedirs(scratch)
        root = os.path.join(workdir, "states")
        shutil.copytree(os.path.join(self.path, "states"), root, symlinks=True)
        pillar_root = None
        if os.path.isdir(os.path.join(self.path, "pillar")):
            pillar_root = os.path.join(workdir, "pillar")
            shutil.copytree(os.path.join(self.path, "pillar"), pillar_root)
        config = {"id": MINION_ID}
        config.update(self._load("config.yaml") or {})
        grains = self._load("grains.yaml")
        config_file = os.path.join(workdir, "config.yaml")
        with open(config_file, "w", encoding="utf-8") as fh:
            yaml.safe_dump(config, fh)
        grains_file = None
        if grains is not None:
            grains_file = os.path.join(workdir, "grains.yaml")
            with open(grains_file, "w", encoding="utf-8") as fh:
                yaml.safe_dump(grains, fh)
        out = []
        for step in self.steps:
            pillar = {"scratch": scratch}
            pillar.update(step["pillar"])
            out.append(
                {
                    "op": step["op"],
                    "sls": step["sls"],
                    "test": step["test"],
                    "file_root": root,
                    "pillar_root": pillar_root,
                    "pillar": pillar,
                    "grains": grains or {},
                    "grains_file": grains_file,
                    "config": config,
                    "config_file": config_file,
                    "cachedir": os.path.join(workdir, "cache"),
                    "scratch": scratch,
                    "workdir": workdir,
                }
            )
        return out


def load_cases(patterns=None, categories=None):
    found = []
    for name in sorted(os.listdir(CASES)):
        path = os.path.join(CASES, name)
        if not os.path.exists(os.path.join(path, "case.yaml")):
            continue
        if patterns and not any(fnmatch.fnmatch(name, p) for p in patterns):
            continue
        case = Case(path)
        if categories and not any(fnmatch.fnmatch(case.category, c) for c in categories):
            continue
        found.append(case)
    return found


# --------------------------------------------------------------------- normal form


def scrub(value, req):
    """Replace this run's private paths, deepest first, everywhere in a value."""
    pairs = (
        (req["scratch"], "<SCRATCH>"),
        (req["file_root"], "<ROOT>"),
        (req["workdir"], "<WORK>"),
    )
    if isinstance(value, str):
        for path, mark in pairs:
            value = value.replace(path, mark)
        return value
    if isinstance(value, dict):
        return {scrub(k, req): scrub(v, req) for k, v in value.items()}
    if isinstance(value, list):
        return [scrub(v, req) for v in value]
    return value


NOT_RUN = "not-run"
_CLASSES = (
    ("requisite-failed", re.compile(r"requisite.{0,20}fail", re.I | re.S)),
    ("onchanges-unmet", re.compile(r"not run because .*onchanges", re.I | re.S)),
    ("onfail-unmet", re.compile(r"not run because .*onfail", re.I | re.S)),
    ("requisites-skipped", re.compile(r"not run because requisites were skipped", re.I)),
    ("prereq-unmet", re.compile(r"^\s*no changes detected\s*$", re.I)),
    ("guard-skipped", re.compile(r"onlyif condition is false|unless condition is true", re.I)),
    ("guard-skipped", re.compile(r"^([/<]\S* exists|all files in creates exist)\s*$", re.I | re.M)),
)


def classify(entry):
    """Why the state did not run, or 'ran'. Text is matched loosely on purpose."""
    comment = entry.get("comment")
    if isinstance(comment, list):
        comment = "\n".join(str(x) for x in comment)
    comment = str(comment or "")
    if not entry.get("changes"):
        for label, rx in _CLASSES:
            if rx.search(comment):
                return label
    if entry.get("__state_ran__") is False:
        return NOT_RUN
    return "ran"


def same_class(a, b):
    if a == b:
        return True
    if NOT_RUN in (a, b):
        return "ran" not in (a, b)
    return False


def _without_provenance(value):
    """Drop `__sls_included_from__`, which only newer Salts put into high and low data."""
    if isinstance(value, dict):
        return {k: _without_provenance(v) for k, v in value.items() if k != "__sls_included_from__"}
    if isinstance(value, list):
        return [_without_provenance(v) for v in value]
    return value


def normalise(op, reply, req):
    """Turn a raw answer into the form that is recorded and compared."""
    if "crash" in reply:
        return {
            "kind": "error",
            "crash": True,
            "errors": [scrub(reply["crash"].strip().splitlines()[-1], req)],
        }
    raw = _without_provenance(scrub(reply["raw"], req))
    if isinstance(raw, str):
        return {"kind": "error", "errors": [raw]}
    if isinstance(raw, list) and raw and all(isinstance(x, str) for x in raw):
        return {"kind": "error", "errors": [_no_trace(x) for x in raw]}
    if op in ("show_highstate", "show_sls"):
        return {"kind": "high", "data": raw}
    if op in ("show_lowstate", "show_low_sls"):
        return {"kind": "low", "data": raw}
    if op == "show_top":
        return {"kind": "top", "data": raw}
    if not isinstance(raw, dict):
        return {"kind": "error", "errors": [repr(raw)[:200]]}
    states = []
    for tag, entry in raw.items():
        if isinstance(entry, dict) and str(entry.get("comment", "")).startswith("not run (failhard)"):
            continue  # saltern says what it did not reach; Salt says nothing
        if not isinstance(entry, dict):
            return {"kind": "error", "errors": [f"{tag}: not a state result: {entry!r}"[:200]]}
        comment = entry.get("comment")
        if isinstance(comment, list):
            comment = "\n".join(str(x) for x in comment)
        states.append(
            {
                "tag": tag,
                "num": entry.get("__run_num__"),
                "result": entry.get("result"),
                "changes": bool(entry.get("changes")),
                "class": classify(entry),
                "sls": entry.get("__sls__"),
                "id": entry.get("__id__"),
                "comment": _no_trace(str(comment or "")),
            }
        )
    states.sort(key=lambda s: (s["num"] is None, s["num"] if s["num"] is not None else 0))
    return {"kind": "run", "states": states}


def _no_trace(text):
    """Keep only the last line of a Python traceback (its paths are the machine's)."""
    if "Traceback (most recent call last)" in text:
        head, _, tail = text.partition("Traceback (most recent call last)")
        last = [ln for ln in tail.strip().splitlines() if ln.strip()][-1]
        return head + "<traceback> " + last.strip()
    return text


def to_raw(answer):
    """The reverse of normalise, for the self-check: contract-shaped output."""
    if answer["kind"] == "error":
        return list(answer["errors"])
    if answer["kind"] != "run":
        return json.loads(json.dumps(answer["data"]))
    out = {}
    for st in answer["states"]:
        entry = {
            "result": st["result"],
            "changes": {"x": 1} if st["changes"] else {},
            "comment": st["comment"],
            "__run_num__": st["num"],
        }
        if st["class"] == NOT_RUN:
            entry["__state_ran__"] = False
        if st["sls"] is not None:
            entry["__sls__"] = st["sls"]
        if st["id"] is not None:
            entry["__id__"] = st["id"]
        out[st["tag"]] = entry
    return out


def snapshot(scratch):
    """Everything left in the scratch directory: type, mode, content."""
    out = {}
    for base, dirs, files in os.walk(scratch):
        dirs.sort()
        for name in sorted(dirs + files):
            path = os.path.join(base, name)
            rel = os.path.relpath(path, scratch)
            info = os.lstat(path)
            if stat.S_ISLNK(info.st_mode):
                target = os.readlink(path).replace(scratch, "<SCRATCH>")
                out[rel] = {"type": "link", "target": target}
            elif stat.S_ISDIR(info.st_mode):
                out[rel] = {"type": "dir", "mode": oct(info.st_mode & 0o7777)}
            elif stat.S_ISREG(info.st_mode):
                with open(path, "rb") as fh:
                    blob = fh.read()
                entry = {"type": "file", "mode": oct(info.st_mode & 0o7777)}
                try:
                    entry["text"] = blob.decode("utf-8").replace(scratch, "<SCRATCH>")
                except UnicodeDecodeError:
                    entry["base64"] = base64.b64encode(blob).decode()
                out[rel] = entry
            else:
                out[rel] = {"type": "other"}
    return out


# ---------------------------------------------------------------------- comparison


def _short(value, limit=90):
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    return text if len(text) <= limit else text[: limit - 3] + "..."


IGNORED_KEYS = set()


def deep_diff(want, got, path=""):
    """Path-labelled differences between two JSON values; dict order is ignored."""
    if isinstance(want, dict) and isinstance(got, dict):
        out = []
        for key in sorted((set(want) | set(got)) - IGNORED_KEYS):
            here = f"{path}/{key}"
            if key not in got:
                out.append(f"{here}: missing (salt has {_short(want[key])})")
            elif key not in want:
                out.append(f"{here}: extra ({_short(got[key])})")
            else:
                out.extend(deep_diff(want[key], got[key], here))
        return out
    if isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            return [f"{path}: {len(want)} items wanted, {len(got)} got: "
                    f"{_short(want)} | {_short(got)}"]
        out = []
        for i, (a, b) in enumerate(zip(want, got)):
            out.extend(deep_diff(a, b, f"{path}[{i}]"))
        return out
    if type(want) is not type(got) and not (
        isinstance(want, (int, float)) and isinstance(got, (int, float))
        and not isinstance(want, bool) and not isinstance(got, bool)
    ):
        return [f"{path}: {_short(want)} ({type(want).__name__}) wanted, "
                f"{_short(got)} ({type(got).__name__}) got"]
    if want != got:
        return [f"{path}: {_short(want)} wanted, {_short(got)} got"]
    return []


def low_tag(chunk):
    return "_|-".join(str(chunk.get(k)) for k in ("state", "__id__", "name", "fun"))


def _order_diff(want, got):
    common = set(want) & set(got)
    w = [t for t in want if t in common]
    g = [t for t in got if t in common]
    if w == g:
        return []
    i = next(i for i, (a, b) in enumerate(zip(w, g)) if a != b)
    return [f"order: at position {i} {w[i]} wanted, {g[i]} got"
            f" | wanted: {_short(' > '.join(_brief(t) for t in w), 400)}"
            f" | got: {_short(' > '.join(_brief(t) for t in g), 400)}"]


def _brief(tag):
    bits = tag.split("_|-")
    if len(bits) == 4:
        return bits[1] if bits[1] == bits[2] else f"{bits[1]}({bits[2]})"
    return tag


def compare_answer(want, got, facets=()):
    """Differences between two normalised answers to one step (empty: they agree)."""
    if want["kind"] != got["kind"]:
        def tell(a):
            if a["kind"] == "error":
                return "compile error: " + _short("; ".join(a["errors"]), 300)
            return a["kind"]
        return [f"kind: salt gave {tell(want)}; engine gave {tell(got)}"]
    if want["kind"] == "error":
        return []
    if want["kind"] in ("high", "top"):
        return deep_diff(want["data"], got["data"])
    if want["kind"] == "low":
        if not isinstance(got["data"], list) or not all(isinstance(x, dict) for x in got["data"]):
            return ["low data is not a list of chunks"]
        w = [low_tag(c) for c in want["data"]]
        g = [low_tag(c) for c in got["data"]]
        if w != g:
            missing = [t for t in w if t not in g]
            extra = [t for t in g if t not in w]
            out = []
            if missing:
                out.append(f"chunks missing: {', '.join(missing)}")
            if extra:
                out.append(f"chunks extra: {', '.join(extra)}")
            if len(set(w)) == len(w) and len(set(g)) == len(g):
                out.extend(_order_diff(w, g))
            return out or [f"order: wanted {_short(' > '.join(map(_brief, w)), 400)}"
                           f" | got: {_short(' > '.join(map(_brief, g)), 400)}"]
        out = []
        for tag, a, b in zip(w, want["data"], got["data"]):
            out.extend(deep_diff(a, b, _brief(tag)))
        return out
    return _compare_run(want["states"], got["states"], facets)


def _compare_run(want, got, facets):
    wmap = {s["tag"]: s for s in want}
    gmap = {s["tag"]: s for s in got}
    out = [f"missing: {t}" for t in wmap if t not in gmap]
    out += [f"extra: {t}" for t in gmap if t not in wmap]
    out += _order_diff([s["tag"] for s in want], [s["tag"] for s in got])
    for tag, w in wmap.items():
        g = gmap.get(tag)
        if g is None:
            continue
        if w["result"] is not g["result"]:
            out.append(f"{tag}: result {w['result']} wanted, {g['result']} got")
        if w["changes"] != g["changes"]:
            words = {True: "some", False: "none"}
            out.append(f"{tag}: changes {words[w['changes']]} wanted, {words[g['changes']]} got")
        if not same_class(w["class"], g["class"]):
            out.append(f"{tag}: {w['class']} wanted, {g['class']} got")
        for key in ("sls", "id"):
            if w[key] is not None and w[key] != g[key]:
                out.append(f"{tag}: __{key}__ {w[key]!r} wanted, {g[key]!r} got")
        if g["num"] is None and w["num"] is not None:
            out.append(f"{tag}: no __run_num__")
        if "comment" in facets and w["class"] == "ran" and w["comment"] != g["comment"]:
            out.append(f"{tag}: comment {_short(w['comment'])!r} wanted, "
                       f"{_short(g['comment'])!r} got")
    return out


def compare_result(want, got, facets=()):
    """Compare whole results: {"steps": [answer...], "scratch": snapshot}."""
    out = []
    many = len(want["steps"]) > 1
    for i, (a, b) in enumerate(zip(want["steps"], got["steps"])):
        lines = compare_answer(a, b, facets)
        out.extend(f"step {i + 1}: {ln}" if many else ln for ln in lines)
    if len(want["steps"]) != len(got["steps"]):
        out.append(f"steps: {len(want['steps'])} wanted, {len(got['steps'])} got")
    if "scratch" in facets:
        out.extend("scratch" + ln for ln in deep_diff(want.get("scratch"), got.get("scratch")))
    return out


# ------------------------------------------------------------------------ recorded


def expected_path(name):
    return os.path.join(EXPECTED, name + ".json")


def load_expected(name):
    with open(expected_path(name), encoding="utf-8") as fh:
        return json.load(fh)


def save_expected(name, record):
    os.makedirs(EXPECTED, exist_ok=True)
    with open(expected_path(name), "w", encoding="utf-8") as fh:
        json.dump(record, fh, indent=1, sort_keys=True)
        fh.write("\n")


def load_fuzz_expected():
    out = {}
    if os.path.exists(FUZZ_EXPECTED):
        with gzip.open(FUZZ_EXPECTED, "rt", encoding="utf-8") as fh:
            for line in fh:
                rec = json.loads(line)
                out[rec["seed"]] = rec
    return out


def save_fuzz_expected(records):
    os.makedirs(EXPECTED, exist_ok=True)
    with open(FUZZ_EXPECTED, "wb") as raw:
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as fh:
            for seed in sorted(records):
                line = json.dumps(records[seed], sort_keys=True, separators=(",", ":"))
                fh.write(line.encode() + b"\n")


# -------------------------------------------------------------------- salt process


class SaltDied(Exception):
    pass


class SaltClient:
    """A long-lived salt_worker.py under the Salt environment's own Python."""

    def __init__(self, salt_py, root, env=None, timeout=120):
        self.salt_py, self.root, self.timeout = salt_py, root, timeout
        self.env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **(env or {}))
        self.env.setdefault("PYTHONHASHSEED", "0")
        self.proc = None
        self.version = None

    def _start(self):
        self.proc = subprocess.Popen(
            [self.salt_py, os.path.join(HERE, "salt_worker.py"), self.root],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.env,
            start_new_session=True,
        )
        self.buf = b""
        self.version = self._read()["ready"]

    def _read(self):
        fd = self.proc.stdout.fileno()
        while b"\n" not in self.buf:
            ready, _, _ = select.select([fd], [], [], self.timeout)
            if not ready:
                self.close()
                raise SaltDied(f"no answer in {self.timeout} s")
            block = os.read(fd, 1 << 16)
            if not block:
                self.close()
                raise SaltDied("the Salt process ended")
            self.buf += block
        line, _, self.buf = self.buf.partition(b"\n")
        return json.loads(line)

    def ask(self, req):
        if self.proc is None:
            self._start()
        try:
            self.proc.stdin.write(json.dumps(req).encode() + b"\n")
            self.proc.stdin.flush()
            return self._read()
        except (BrokenPipeError, SaltDied) as exc:
            self.close()
            return {"crash": f"SaltDied: {exc}"}

    def run_case(self, case, workdir):
        reqs = case.prepare(workdir)
        steps = []
        for req in reqs:
            shutil.rmtree(req["cachedir"], ignore_errors=True)
            steps.append(normalise(req["op"], self.ask(req), req))
        return {"steps": steps, "scratch": snapshot(reqs[0]["scratch"])}

    def close(self):
        if self.proc is not None:
            proc, self.proc = self.proc, None
            try:
                proc.stdin.close()
            except OSError:
                pass
            try:
                proc.wait(5)
            except subprocess.TimeoutExpired:
                proc.kill()
                proc.wait()


def find_salt_py(given=None):
    """--salt-py, then $SALT_PY, then this Python when it has Salt."""
    for cand in (given, os.environ.get("SALT_PY")):
        if cand:
            return cand
    probe = subprocess.run(
        [sys.executable, "-c", "import salt.state"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return sys.executable if probe.returncode == 0 else None
