"""``salt.defaults.exitcodes``: the usual ones of Unix."""

from __future__ import annotations

EX_OK = 0
EX_GENERIC = 1
EX_USAGE = 64
EX_NOUSER = 67
EX_UNAVAILABLE = 69
EX_SOFTWARE = 70
EX_CANTCREAT = 73
EX_TIMEOUT = 124
EX_AGGREGATE = 20
EX_STATE_FAILURE = 2
EX_STATE_COMPILER_ERROR = 1
