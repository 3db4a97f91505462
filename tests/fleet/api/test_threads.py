from __future__ import annotations

import asyncio

import pytest

from saltern.fleet.api.call import without_stop


def test_work_in_a_thread_that_finds_nothing_is_an_error_and_no_wait_for_ever() -> None:
    async def ask() -> object:
        return await asyncio.wait_for(asyncio.to_thread(without_stop, next, iter(())), 20)

    with pytest.raises(RuntimeError, match="next found nothing"):
        asyncio.run(ask())
    assert without_stop(max, 1, 2) == 2
