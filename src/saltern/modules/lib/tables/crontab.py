"""A crontab as a value. Lines before Salt's marker belong to the user, and are never changed."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from saltern.modules.api.context import Context
from saltern.modules.api.programs import AS_ROOT, PLAIN_WORDS, error_text, missing_program, wants_root
from saltern.modules.api.refused import Refused, one_line
from saltern.system.process import NOT_FOUND

# These three are Salt's, so that both understand each other's crontabs.
MARKER = "# Lines below here are managed by Salt, do not edit"
IDENTIFIER = "SALT_CRON_IDENTIFIER:"
DISABLED = "#DISABLED#"

FIELDS = ("minute", "hour", "daymonth", "month", "dayweek")
VARIABLE = re.compile(r"([A-Za-z_][\w.]*)\s*=\s*(.*)")
EMPTY = '""'  # crontab rejects a variable without a value
TIMED = re.compile(r"(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(.+)")
SPECIAL = re.compile(r"(@\w+)\s+(.+)")


class Job(Struct, frozen=True, kw_only=True):
    """A job. ``special`` (``@daily``) replaces the five fields of ``times``."""

    command: str
    times: tuple[str, ...] = ("*",) * 5
    special: str = ""
    comment: str = ""
    identifier: str = ""
    commented: bool = False

    def lines(self) -> list[str]:
        note = "\n# ".join(self.comment.splitlines())
        mark = f"{IDENTIFIER}{self.identifier}" if self.identifier else ""
        about = " ".join(filter(None, (note, mark)))
        when = self.special or " ".join(self.times)
        line = f"{DISABLED if self.commented else ''}{when} {self.command}"
        return [*(f"# {about}".split("\n") if about else ()), line]

    def asdict(self) -> dict[str, object]:
        when: dict[str, object] = {"special": self.special}
        if not self.special:
            when = dict(zip(FIELDS, self.times, strict=True))
        return {
            **when,
            "command": self.command,
            "comment": self.comment,
            "identifier": self.identifier,
            "commented": self.commented,
        }


class Variable(Struct, frozen=True):
    name: str
    value: str

    def lines(self) -> list[str]:
        return [f"{self.name}={self.value or EMPTY}"]


class Other(Struct, frozen=True):
    """A line that is kept unchanged."""

    text: str

    def lines(self) -> list[str]:
        return [self.text]


Entry = Job | Variable | Other


class Crontab(Struct, frozen=True):
    before: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()

    @property
    def jobs(self) -> list[Job]:
        return [one for one in self.entries if isinstance(one, Job)]

    @property
    def variables(self) -> dict[str, str]:
        return {one.name: one.value for one in self.entries if isinstance(one, Variable)}

    def text(self) -> str:
        managed = [line for entry in self.entries for line in entry.lines()]
        return "".join(f"{line}\n" for line in (*self.before, MARKER, *managed))

    def find(self, command: str, identifier: str) -> Job | None:
        """The job with this identifier; or with this command, if it has no other identifier."""
        by_name = (one for one in self.jobs if identifier and one.identifier == identifier)
        by_command = (one for one in self.jobs if not one.identifier and one.command == command)
        return next(by_name, None) or next(by_command, None)

    def find_special(self, command: str, identifier: str, special: str) -> Job | None:
        """A job at ``special`` times, by its command or its identifier."""
        fits = (one for one in self.jobs if one.special == special)
        return next((one for one in fits if command == one.command or identifier == one.identifier), None)

    def with_job(self, job: Job, instead_of: Job | None) -> Crontab:
        one_line(" ".join((job.command, job.special, job.identifier, *job.times)), "a job")
        if instead_of is None:
            return replace(self, entries=(*self.entries, job))
        return replace(self, entries=tuple(job if one is instead_of else one for one in self.entries))

    def without(self, entry: Entry) -> Crontab:
        return replace(self, entries=tuple(one for one in self.entries if one is not entry))

    def with_variable(self, name: str, value: str) -> Crontab:
        """The crontab with the variable, in its line or before all jobs: it affects the lines after it."""
        one_line(f"{name}={value}", "a variable")
        new = Variable(name, value)
        if name not in self.variables:
            return replace(self, entries=(new, *self.entries))
        is_it = [isinstance(one, Variable) and one.name == name for one in self.entries]
        entries = tuple(new if same else one for one, same in zip(self.entries, is_it, strict=True))
        return replace(self, entries=entries)

    def without_variable(self, name: str) -> Crontab:
        kept = tuple(one for one in self.entries if not (isinstance(one, Variable) and one.name == name))
        return replace(self, entries=kept)


def parse(text: str) -> Crontab:
    lines = text.splitlines()
    if MARKER not in lines:
        return Crontab(tuple(lines))
    at = lines.index(MARKER)
    entries: list[Entry] = []
    notes: list[str] = []
    for line in lines[at + 1 :]:
        if line.startswith("#") and not line.startswith(DISABLED):
            notes.append(line)
            continue
        job = _job(line, notes)
        if job is not None:
            entries.append(job)
        else:
            entries += [*map(Other, notes), _variable(line) or Other(line)]
        notes = []
    return Crontab(tuple(lines[:at]), (*entries, *map(Other, notes)))


def _variable(line: str) -> Variable | None:
    found = VARIABLE.fullmatch(line.strip())
    return Variable(found[1], "" if found[2] == EMPTY else found[2]) if found else None


def _job(line: str, notes: list[str]) -> Job | None:
    commented = line.startswith(DISABLED)
    bare = line.removeprefix(DISABLED).strip()
    about = "\n".join(note[1:].removeprefix(" ") for note in notes)
    comment, _, identifier = about.partition(IDENTIFIER)
    if special := SPECIAL.fullmatch(bare):
        job = Job(command=special[2], special=special[1])
    elif VARIABLE.fullmatch(bare) is None and (timed := TIMED.fullmatch(bare)):
        job = Job(command=timed[6], times=timed.groups()[:5])
    else:
        return None
    return replace(job, comment=comment.rstrip(), identifier=identifier.strip(), commented=commented)


# -- through the crontab program --------------------------------------------------------------------


def read(ctx: Context, user: str) -> str:
    """The text of the crontab of a user; empty if there is none.

    In test mode also if the user or the program is missing: an earlier state may install them.
    """
    ran = ctx.host.run(["crontab", *_whose(user), "-l"], env=PLAIN_WORDS)
    if ran.code == 0:
        return ran.out
    if "no crontab for" in ran.err or "can't open" in ran.err or ctx.test:
        return ""
    raise _refusal(ran.code, error_text(ran), user)


def read_any(ctx: Context, user: str) -> str:
    """Like ``read``, but empty for a user that does not exist."""
    try:
        return read(ctx, user)
    except Refused:
        if _exists(user):
            raise
        return ""


def _exists(user: str) -> bool:
    import pwd

    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


def write(ctx: Context, user: str, text: str) -> None:
    ran = ctx.host.run(["crontab", *_whose(user), "-"], stdin=text, env=PLAIN_WORDS)
    if ran.code:
        raise _refusal(ran.code, error_text(ran), user)


def _whose(user: str) -> list[str]:
    if not user or user.startswith("-"):
        raise Refused(f"{user!r} cannot be the name of a user")
    return ["-u", user]


def _refusal(code: int, reported: str, user: str) -> Refused:
    if code == NOT_FOUND:
        return Refused(missing_program("crontab", "cron"))
    hint = f"\n{AS_ROOT}" if wants_root(reported) else ""
    return Refused(f"the crontab of {user!r}: {reported}{hint}")
