"""Random choices of arguments, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

Case = dict[str, Any]


class Chance(random.Random):
    """Random texts and arguments."""

    def lines(self, choices: tuple[str, ...], least: int = 1, most: int = 5, end: str = "\n") -> str:
        return "".join(f"{self.choice(choices)}{end}" for _ in range(self.randrange(least, most + 1)))

    def distinct(self, choices: tuple[str, ...], most: int) -> str:
        return "".join(f"{line}\n" for line in self.sample(choices, self.randrange(0, most + 1)))

    def some(self, **options: tuple[Any, ...]) -> dict[str, Any]:
        """Each option with one of its values, in a third of the cases."""
        return {name: self.choice(values) for name, values in options.items() if self.random() < 0.33}


Maker = Callable[[Chance], Case]
