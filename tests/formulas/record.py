"""Writes ``expected/``: what Salt itself compiles of every case.

    python -m tests.formulas.record [--check] [SITE_PACKAGES] [FORMULA …]

``SITE_PACKAGES`` is a directory with Salt; ``make salt`` makes one, ``build/salt``, which is the usual
one. Nothing is applied. With ``--check`` nothing is written: the files are compared with what Salt says.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.formulas.trees import EXPECTED, HERE, Case, cases

# Which states answer to ``watch`` depends on the programs of the machine that records: these always do.
REACTING = ("service.mod_watch",)
SALT = HERE.parent.parent / "build" / "salt"


def main(arguments: list[str]) -> None:
    check = arguments[:1] == ["--check"]
    arguments = arguments[check:]
    site = arguments.pop(0) if arguments and Path(arguments[0]).is_dir() else str(SALT)
    sys.path.append(site)
    for formula in arguments or dict.fromkeys(case.formula for case in cases()):
        answers = {case.key: compiled(case) for case in cases() if case.formula == formula}
        file = EXPECTED / f"{formula}.json"
        if not check:
            file.write_text(_shown(answers), encoding="utf-8")
        elif file.read_text(encoding="utf-8") != _shown(answers):
            sys.exit(f"{file.name} is not what Salt compiles")


def compiled(case: Case) -> dict[str, Any]:
    """High data as ``show_highstate`` has it, low data as ``show_lowstate``."""
    import salt.state  # type: ignore[import-not-found,unused-ignore]

    with (
        tempfile.TemporaryDirectory(prefix="saltern-record-") as place,
        salt.state.HighState(_options(case, Path(place))) as engine,
    ):
        engine.push_active()
        try:
            return _stages(engine, case)
        finally:
            engine.pop_active()


def _stages(engine: Any, case: Case) -> dict[str, Any]:
    _check(case, engine.opts["pillar"].get("_errors"))
    for name in REACTING:
        engine.state.states._dict.setdefault(name, None)
    matches = {"base": list(case.sls)} if case.sls else engine.top_matches(engine.get_top())
    high, errors = engine.render_highstate(matches)
    _check(case, errors)
    shown = json.loads(json.dumps(high))
    high, errors = engine.state.reconcile_extend(high)
    _check(case, errors + engine.state.verify_high(high))
    high, errors = engine.state.requisite_in(high)
    _check(case, errors)
    low, errors = engine.state.compile_high_data(engine.state.apply_exclude(high))
    _check(case, errors)
    return {"high": shown, "low": json.loads(json.dumps(low))}


def _check(case: Case, errors: list[str] | None) -> None:
    if errors:
        sys.exit("\n".join([f"{case.formula} {case.key} does not compile:", *errors]))


def _options(case: Case, place: Path) -> dict[str, Any]:
    import salt.config  # type: ignore[import-not-found,unused-ignore]

    case.write_pillar(place / "pillar")
    grains = case.known_grains()
    settings = {
        "id": grains["id"],
        "root_dir": str(place),
        "cachedir": str(place / "cache"),
        "file_client": "local",
        "file_roots": {"base": case.file_roots()},
        "pillar_roots": {"base": [str(place / "pillar")]},
        "grains": grains,
    }
    (place / "minion").write_text(json.dumps(settings), encoding="utf-8")
    options: dict[str, Any] = salt.config.minion_config(str(place / "minion"))
    return {**options, "__cli": "salt-call", "local": True}


def _shown(answers: dict[str, Any]) -> str:
    """One declaration and one chunk on a line: small, and a difference is easy to see."""
    lines = ["{"]
    for place, (key, answer) in enumerate(answers.items()):
        high = [f"  {_line(one)}: {_line(body)}" for one, body in answer["high"].items()]
        low = [f"  {_line(one)}" for one in answer["low"]]
        lines += [f"{',' if place else ''}{_line(key)}: {{", ' "high": {', ",\n".join(high), " },"]
        lines += [' "low": [', ",\n".join(low), " ]", "}"]
    return "\n".join([*lines, "}", ""])


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    main(sys.argv[1:])
