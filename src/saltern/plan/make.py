"""Chunks → Plan.

The rule: walk the low list from the top; before a chunk runs, the chunks that it requires and that
have not run yet run first, depth first, requisites in the order of their kinds, targets in the order of
the list. A prereq's target is rehearsed before the owner and runs after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostics
from saltern.plan.plan import Plan, steps_before


def make_plan(
    chunks: Sequence[Chunk],
    rendered: Sequence[str],
    found: Diagnostics,
    aggregates: Callable[[Chunk], bool] | None = None,
    *,
    elsewhere: Callable[[str], str] | None = None,
    strict: bool = False,
) -> Plan:
    """Make the plan. Raises ``CompileError`` for unknown targets and cycles, all of a kind together.

    ``aggregates`` says which chunks can be processed together with others of their kind; ``elsewhere``
    finds a target that is not in this scope, if it is known.
    """
    plan = Plan(chunks=list(chunks), rendered=tuple(rendered))
    related = any(chunk.requisites for chunk in chunks)
    if related:
        from saltern.plan.resolve import Resolver

        Resolver(plan, rendered, found, elsewhere, strict=strict).all()
        found.check()
    if aggregates is not None:
        if related:
            _sequence(plan, found)  # reports cycles before reachability is computed
            found.check()
        from saltern.plan.aggregate import group

        group(plan, aggregates)
        plan.sequence, plan.pulled_by = [], {}
    if related:
        _sequence(plan, found)
        found.check()
    else:
        plan.sequence = list(range(len(chunks)))
    return plan


def _sequence(plan: Plan, found: Diagnostics) -> None:
    """Order the steps depth first without recursion, since a chain may be as long as the run. A step met
    again while it is still open is a cycle."""
    done: set[int] = set()
    opened: dict[int, int] = {}  # step → its depth in the stack
    size = len(plan.chunks)
    for root in range(size):
        if root in done:
            continue
        stack = [(root, iter(steps_before(plan, root)))]
        opened[root] = 0
        while stack:
            step, before = stack[-1]
            for inner in before:
                if inner in done:
                    continue
                if inner in opened:
                    cycle = [one for one, _ in stack[opened[inner] :]]
                    from saltern.plan.cycles import report_cycle

                    report_cycle(plan.chunks, cycle, size, found)
                    return
                opened[inner] = len(stack)
                stack.append((inner, iter(steps_before(plan, inner))))
                break
            else:
                stack.pop()
                del opened[step]
                done.add(step)
                if step < size:
                    plan.sequence.append(step)
                if 0 <= step < size and step != root:
                    plan.pulled_by[step] = next((one for one, _ in reversed(stack) if 0 <= one < size), root)
