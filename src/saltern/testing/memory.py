"""A machine in memory: files, links and a table of commands. Implements ``system.host.Host``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from saltern.system.process import NOT_FOUND, Ran, Sink
from saltern.testing.memory_files import MemoryFiles

# The answer of a command: its output, its exit code, a whole ``Ran``, or a function of the command line.
Reply = str | int | Ran | Callable[[str], "str | int | Ran"]


class MemoryHost(MemoryFiles):
    """``files`` exist from the start; ``commands`` are those that can be run.

    A command is looked up as written, then as a pattern (``apt-get install *``). An unknown one ends with
    exit code 127, as in a shell. ``ran`` lists the commands that were run, in order.
    """

    def __init__(
        self,
        files: Mapping[str, str | bytes] | None = None,
        *,
        commands: Mapping[str, Reply] | None = None,
        directories: Iterable[str] = (),
    ) -> None:
        self.commands: dict[str, Reply] = dict(commands or {})
        self.ran: list[str] = []
        super().__init__(files or {}, directories)

    def run(
        self,
        command: str | Sequence[str],
        *,
        shell: str | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        clean_env: bool = False,
        user: str | None = None,
        stdin: str | bytes | None = None,
        umask: int | None = None,
        timeout: float | None = None,
        merge_err: bool = False,
        sink: Sink | None = None,
    ) -> Ran:
        """Look up a command. The options are those of a real machine; they have no effect here."""
        from shlex import join

        del shell, cwd, env, clean_env, user, stdin, umask, timeout, merge_err, sink
        line = command if isinstance(command, str) else join(command)
        self.ran.append(line)
        reply = self._reply(line)
        if reply is None:
            known = f"MemoryHost has no command {line!r}: add it to its commands"
            return Ran(code=NOT_FOUND, err=known)
        said = reply(line) if callable(reply) else reply
        if isinstance(said, Ran):
            return said
        return Ran(code=said, pid=1) if isinstance(said, int) else Ran(code=0, out=said, pid=1)

    def _reply(self, line: str) -> Reply | None:
        from fnmatch import fnmatchcase

        if line in self.commands:
            return self.commands[line]
        return next((reply for known, reply in self.commands.items() if fnmatchcase(line, known)), None)
