"""Every command, one row each. Only the chosen command is imported and gets a parser."""

from __future__ import annotations

from msgspec import Struct


class Command(Struct, frozen=True):
    """``code`` is ``module:parser:run``, below this package."""

    help: str
    code: str


COMMANDS: dict[str, Command] = {
    "apply": Command("apply states to this machine", "apply"),
    "plan": Command("show what would change, for approval; -o saves the plan for apply", "plan"),
    "drift": Command("compare this machine with its states, and say since when it differs", "drift"),
    "show": Command("show what would be applied: high data, low data, order, top, pillar, grains …", "show"),
    "resume": Command("resume a broken run", "resume"),
    "init": Command("write a small working tree with a test, as a starting point", "init"),
    "runs": Command("list the runs of this machine", "runs"),
    "chain": Command("run action chains, which survive reboots", "chain"),
    "window": Command("maintenance windows: when work is allowed on systems of the fleet", "window"),
    "schedule": Command("chains that the controller runs at their times", "schedule"),
    "fleet": Command(
        "the systems of a fleet: status, keys, tokens, groups, facts, and a demonstration", "fleet"
    ),
    "console": Command("open the console of the fleet in a browser", "console"),
    "orchestrate": Command("run an orchestration file: states that act on many systems", "orchestrate"),
    "runner": Command("run a runner of the controller: jobs.*, manage.*, cache.*, your own", "runner"),
    "jobs": Command("list the jobs of the fleet", "jobs"),
    "job": Command("show or follow one job of the fleet", "job"),
    "events": Command("print what happens in the fleet, as it happens", "events"),
    "reactor": Command("show, test and edit the reactions to events", "reactor"),
    "sources": Command("the git repositories among the roots: their commits; fetch them now", "sources"),
    "tree": Command("versions of the files that the systems of a fleet see", "tree"),
    "login": Command("log in to the controller of a fleet, and store the token", "login"),
    "logout": Command("end the session, and delete its token", "logout"),
    "operators": Command("who may log in to the controller, their roles and API tokens", "operators"),
    "policy": Command("who may run what where: check, explain, import from Salt", "policy"),
    "approvals": Command("approve or reject jobs that need another person", "approvals"),
    "audit": Command("who did what at the controller, and whether the record is complete", "audit"),
    "install-service": Command("resume broken and rebooting runs when the machine boots", "install_service"),
    "controller": Command("run the controller of a fleet", "controller"),
    "site": Command("a location of the fleet with its own broker: add, run", "site"),
    "agent": Command("take part in a fleet: join, run, status, sync, log, leave, install-service", "agent"),
    "check": Command("compile everything without running it, and report every problem", "check"),
    "compare": Command("compile state files with Salt and with saltern, and show the differences", "compare"),
    "migrate": Command("convert the configuration of a Salt master for a fleet", "migrate"),
    "fmt": Command("format state files without changing their meaning", "fmt"),
    "lsp": Command("serve an editor: problems as you type, completion, documentation", "lsp"),
    "explain": Command("explain why a state runs at its position, or what an error code means", "explain"),
    "graph": Command("draw the requisites and the order: HTML, SVG, dot or mermaid", "graph"),
    "report": Command("write a run as one HTML page", "report"),
    "single": Command("apply one state, without any file", "single"),
    "call": Command("call one execution function", "call"),
    "ssh": Command("reach systems over SSH: a command on many, the roster, the bundle", "ssh"),
    "docs": Command("print what a module or a function does and takes", "docs"),
    "completion": Command("print the completion script of bash, zsh or fish", "completion"),
    "render": Command("render a file and print the result", "render"),
}
