"""Random trees with delayed blocks, as values for ``naive_delayed`` and as text for saltern.

IDs and names of blocks are few, so that scopes repeat each other's; blocks and files call each other and
themselves, held by limits and caps. Now and then a name is called that nobody has, or a text is broken.
"""

from __future__ import annotations

import json

from hypothesis import strategies as st
from tests.property.naive_delayed import Block, Entry, State, Text, Tree

FUNCTIONS = ("fine", "changes", "fine", "changes", "fails", "fails_late")
WHEN = ("success", "success", "success", "always", "changes", "failure")
LIMITS = ("", "", "1", "2", "3", "None")
FILES = ("main", "p1", "p2")
NAMES = ("A", "B", "C")
BROKEN = (
    "x: [",
    "{{ missing }}",
    "x:\n  rec.fine:\n    - require:\n      - rec: beyond",
    "{% if %}",
    "\tx: 1",
    "x:\n  rec.fine: [",
)
Names = tuple[str, ...]
Entries = st.SearchStrategy[list[Entry]]
SEEN = (
    "{{ prev_ret.__id__ }} {{ prev_ret.name }} {{ prev_ret.result }} {{ prev_ret.__state_ran__ }}"
    " {{ prev_ret.__run_num__ }} {{ prev_ret.changes | length > 0 }}"
)


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    names = draw(st.sampled_from([FILES[:1], FILES[:2], FILES]))
    files = {name: draw(texts(name, names, (), depth=2)) for name in names}
    return Tree(
        files=files,
        limits={name: draw(st.sampled_from(LIMITS)) for name in files},
        limit=draw(st.sampled_from([1, 1, 2, 3, None])),
        depth=draw(st.sampled_from([50, 50, 1, 2, 4])),
        frames=draw(st.sampled_from([12, 12, 1, 3, 6])),
        test=draw(st.integers(0, 3)) == 0,
        failhard=draw(st.integers(0, 9)) == 0,
        newline=draw(st.sampled_from(["\n", "\n", "\r\n"])),
    )


@st.composite
def texts(draw: st.DrawFn, file: str, files: Names, around: Names, *, depth: int) -> Text:
    """``file`` is empty for what stands in a block; ``around`` are the blocks it sees of those around it."""
    own = (
        draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=depth // 2, max_size=2)) if depth else []
    )
    seen = tuple(dict.fromkeys((*own, *around)))
    states: list[State] = []
    for at in range(draw(st.sampled_from([1, 2, 3] if file == "main" else [2, 1, 3, 0]))):
        id_ = f"{file}_{at}" if file in files[1:] else f"s{at}"
        earlier = [one.id for one in states]
        calls = _entries(files, seen, least=int(file == "main" and at == 0))
        states.append(draw(_states(id_, earlier, calls, inside=not file)))
    blocks = tuple(
        Block(
            name=name,
            text=draw(texts("", files, seen, depth=depth - 1)),
            limit=draw(st.sampled_from(LIMITS)),
            draft=draw(st.integers(0, 5)) == 5,
            named_end=draw(st.booleans()),
        )
        for name in own
    )
    broken = draw(st.sampled_from(BROKEN)) if file != "main" and draw(st.integers(0, 14)) == 14 else ""
    later = files[files.index(file or "main") + 1 :]
    include = (draw(st.sampled_from(later)),) if later and draw(st.integers(0, 7)) == 7 else ()
    return Text(states=_prepared(draw, states), blocks=blocks, include=include, broken=broken)


@st.composite
def _states(draw: st.DrawFn, id_: str, earlier: list[str], calls: Entries, *, inside: bool) -> State:
    needs = {}
    if earlier:
        kinds = st.sampled_from(["require", "watch", "onfail", "onchanges", "listen"])
        pairs = st.tuples(kinds, st.sampled_from(earlier))
        needs = dict(draw(st.lists(pairs, max_size=2)))
    return State(
        id=id_,
        fun=draw(st.sampled_from(FUNCTIONS)),
        names=(f"{id_}-b", f"{id_}-a") if draw(st.integers(0, 6)) == 6 else (),
        needs=tuple(needs.items()),
        entries=tuple(draw(calls)),
        failhard=draw(st.integers(0, 12)) == 12,
        done="watch" not in needs and draw(st.integers(0, 9)) == 9,
        asks=inside and draw(st.booleans()),
    )


def _entries(files: Names, blocks: Names, *, least: int) -> Entries:
    """Mostly of what there is; one name in thirty is nobody's."""
    known = [("block", name) for name in blocks] * 3 + [("sls", name) for name in files]
    strange = [("block", "nobody"), ("sls", "nowhere")]
    pairs = st.integers(0, 29).flatmap(lambda odd: st.sampled_from(strange if odd == 29 else known))
    one = st.builds(lambda pair, when: Entry(pair[0], pair[1], when), pairs, st.sampled_from(WHEN))
    return st.lists(one, min_size=least, max_size=2)


def _prepared(draw: st.DrawFn, states: list[State]) -> tuple[State, ...]:
    """Perhaps one state more that is to run before another changes anything."""
    free = [one.id for one in states if not any(kind != "listen" for kind, _ in one.needs)]
    if not free or draw(st.integers(0, 7)) < 7:
        return tuple(states)
    needs = (("prereq", draw(st.sampled_from(free))),)
    return (*states, State(id=f"{free[0]}-first", fun=draw(st.sampled_from(FUNCTIONS)), needs=needs))


# -- as text -----------------------------------------------------------------------------------------------


def written(tree: Tree) -> dict[str, str]:
    files = {}
    for name, text in tree.files.items():
        limit = tree.limits.get(name)
        head = f"#!delayed_sls delayed_repeat_limit={limit}\n" if limit else ""
        files[f"{name}.sls"] = (head + text_of(text)).replace("\n", tree.newline)
    return files


def text_of(text: Text) -> str:
    include = f"include: {json.dumps(text.include)}\n" if text.include else ""
    states = "".join(f"{json.dumps(one.id)}: {json.dumps(_body(one))}\n" for one in text.states)
    broken = f"{text.broken}\n" if text.broken else ""
    return include + states + "".join(_tagged(block) for block in text.blocks) + broken


def _tagged(block: Block) -> str:
    limit = f" delayed_repeat_limit={block.limit}" if block.limit else ""
    end = f" {block.name}" if block.named_end else ""
    begin, end = f"delayed_block {block.name}{limit}", f"end_delayed_block{end}"
    if block.draft:
        begin, end = f"{{% {begin} %}}", f"{{% {end} %}}"
    else:
        begin, end = f"#!{begin}", f"#!{end}"
    return f"{begin}\n{text_of(block.text)}{end}\n"


def _body(state: State) -> dict[str, object]:
    args: list[dict[str, object]] = []
    if state.names:
        args.append({"names": list(state.names)})
    args += [{kind: [{"rec": id_}]} for kind, id_ in state.needs]
    if state.entries:
        args.append({"delayed_render": [_entry(one) for one in state.entries]})
    if state.failhard:
        args.append({"failhard": True})
    if state.done:
        args.append({"creates": "/"})
    if state.asks:
        args.append({"seen": SEEN})
    return {f"rec.{state.fun}": args}


def _entry(entry: Entry) -> dict[str, str]:
    when = {} if entry.when == "success" else {"when": entry.when}
    return {entry.kind: entry.name, **when}
