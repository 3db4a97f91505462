"""Every exit code, one row each."""

from __future__ import annotations

OK = 0
SURROUNDINGS = 1
FAILED = 2
COMPILE = 3
CHANGED = 4
PILLAR = 5
REBOOTING = 6
AWAY = 7
BUG = 70
INTERRUPTED = 130

EXITS: dict[int, str] = {
    OK: "success; in test mode also if something would change",
    SURROUNDINGS: "the command line or the environment is wrong: no such directory, a bad configuration",
    FAILED: "at least one state failed",
    COMPILE: "the states do not compile; nothing was run. `check`: there are errors",
    CHANGED: "with --detailed-exitcode: success, and something changed or would change",
    PILLAR: "the pillar does not compile; nothing was run",
    REBOOTING: "the machine reboots, now or soon; the run continues afterwards",
    AWAY: "with --on: all answers are successful, but at least one system is away or did not answer in time",
    BUG: "saltern itself failed; the message names the file with the details",
    INTERRUPTED: "interrupted by a key or a signal; what was done is reported",
}
