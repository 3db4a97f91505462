"""A target that cannot be read."""

from __future__ import annotations

from saltern.language.diagnostics import CompileError, Diagnostic


class BadTarget(CompileError):
    """A malformed target: ``what`` is wrong and how to ``fix`` it.

    The caller, which knows the file, reports the problem again with its position.
    """

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(Diagnostic(code="bad-target", what=what, fix=fix))
        self.what = what
        self.fix = fix
