"""Every option of the engine, one row each.

The loader, the command line and the reference page read this table; ``Settings`` has a field
for each row, with the same default (a test compares the two).
"""

from __future__ import annotations

from msgspec import Struct

# The shapes of values, as problems name them; ``shapes.SHAPES`` has a reader for each.
TEXT, FLAG, NUMBER, SECONDS = "text", "true or false", "a whole number", "a number of seconds"
TEXTS, ROOTS, MAPPING = "a list of texts", "a mapping of environments to directories", "a mapping"
NUMBER_OR_NONE = "a whole number from 1 on, or None"
PATH, PATHS = "a path", "a list of paths"
OPTIONAL_TEXT, FLAG_OR_TEXT, FLAG_OR_TEXTS = (
    "text or nothing",
    "true, false or text",
    "true, false or a list of texts",
)


class Option(Struct, frozen=True):
    """One row. ``choices`` are all texts allowed, if there are only a few; one of ``endings`` may follow."""

    name: str
    shape: str
    default: object
    doc: str
    choices: tuple[str, ...] = ()
    since: str = "0.1"
    endings: tuple[str, ...] = ()

    def allows(self, text: object) -> bool:
        """Whether it is one of the choices, if there are any."""
        if not self.choices or text in self.choices:
            return True
        return any(f"{one}{ending}" == text for one in self.choices for ending in self.endings)

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"SALTERN_{self.name.upper()}"


OPTIONS: dict[str, Option] = {
    row.name: row
    for row in (
        Option(
            "id", TEXT, "", "The name of this machine in top files and targets; the host name if not set."
        ),
        Option("file_roots", ROOTS, {"base": ["/srv/salt"]}, "Where states and `salt://` files are."),
        Option("pillar_roots", ROOTS, {"base": ["/srv/pillar"]}, "Where pillar files are."),
        Option(
            "git_update_interval",
            SECONDS,
            60.0,
            "How many seconds a fetched git root is used before its repository is checked again.",
        ),
        Option(
            "file_tree",
            PATH,
            "",
            "The directory of a tree that an agent has fetched; the agent sets it for its runs.",
        ),
        Option(
            "agent_socket",
            PATH,
            "",
            "The socket of the agent that started a run: missing files of `file_tree` and the pillar come"
            " from there.",
        ),
        Option("agent_job", TEXT, "", "The fleet job that a run belongs to; the agent sets it."),
        Option("saltenv", OPTIONAL_TEXT, None, "The environment states come from."),
        Option("pillarenv", OPTIONAL_TEXT, None, "The only environment pillar comes from; all if not set."),
        Option("lock_saltenv", FLAG, False, "Refuse another environment on the command line."),
        Option("env_order", TEXTS, [], "The environments, in the order of their top files."),
        Option(
            "default_top",
            TEXT,
            "base",
            "The environment whose top file replaces a missing one (strategy `same`).",
        ),
        Option("state_top", TEXT, "top.sls", "The name of the top file, for states and for pillar."),
        Option("state_top_saltenv", OPTIONAL_TEXT, None, "Read the top file of this environment only."),
        Option(
            "top_file_merging_strategy",
            TEXT,
            "merge",
            "How several top files become one: `merge`, `same` or `merge_all`.",
        ),
        Option("nodegroups", MAPPING, {}, "Names for compound targets, used as `N@name`."),
        Option(
            "controller",
            TEXT,
            "",
            "Where the controller of the fleet is, for `--on`: `https://HOST:PORT`, or the path of a socket.",
        ),
        Option("test", FLAG, False, "Only report what would change."),
        Option("strict", FLAG, False, "Unknown functions and arguments are errors before anything runs."),
        Option(
            "check",
            MAPPING,
            {},
            "For `saltern check`: `rules` maps the names of rules to `off`, `on`, `warning` or `error`,"
            " `exclude` is a list of SLS names or patterns, `machines` are the machines to check for: a"
            " directory, files, or a mapping of names to `id`, `grains` and `pillar`.",
        ),
        Option("renderer", TEXT, "jinja|yaml", "The pipe for files without a `#!` line."),
        Option("renderer_blacklist", TEXTS, [], "Renderers that may not be used."),
        Option("renderer_whitelist", TEXTS, [], "The only renderers that may be used; all if empty."),
        Option(
            "gpg_keydir",
            PATH,
            "",
            "The key ring of the renderer `gpg`; if not set, `gpgkeys` beside the configuration, or Salt's.",
        ),
        Option(
            "sops_age_key_file",
            PATH,
            "",
            "The age keys of the renderer `sops`; if not set, where sops looks for them.",
        ),
        Option(
            "gpg_decrypt_must_succeed",
            FLAG,
            True,
            "A gpg block that cannot be decrypted is an error; if false, it stays as it is, with a warning.",
        ),
        Option("jinja_env", MAPPING, {}, "Jinja options for templates that are not SLS files."),
        Option("jinja_sls_env", MAPPING, {}, "Jinja options for SLS files."),
        Option("allow_undefined", FLAG, False, "Let templates use names that do not exist."),
        Option("render_time_limit", SECONDS, 30.0, "CPU seconds one file may take to render; 0: no limit."),
        Option(
            "render_memory_limit",
            NUMBER,
            1024**3,
            "Bytes of memory the template of one file may take, in addition to saltern's own; 0: no limit.",
        ),
        Option("max_sls_size", NUMBER, 10 * 1024 * 1024, "Bytes one state file may have."),
        Option("max_yaml_depth", NUMBER, 100, "How deep YAML may be nested."),
        Option(
            "max_yaml_nodes", NUMBER, 1_000_000, "How many values one YAML file may have, aliases unfolded."
        ),
        Option(
            "archive_max_entries", NUMBER, 1_000_000, "How many files and directories one archive may hold."
        ),
        Option("archive_max_size", NUMBER, 32 << 30, "Bytes that one archive may unpack to."),
        Option(
            "archive_max_ratio",
            NUMBER,
            200,
            "How many times its own size an archive may unpack to, if that is more than 256 MiB.",
        ),
        Option(
            "pillar_source_merging_strategy",
            TEXT,
            "smart",
            "How pillar files are merged.",
            ("smart", "recurse", "aggregate", "overwrite", "none", "list"),
        ),
        Option("pillar_merge_lists", FLAG, False, "Join lists instead of replacing them."),
        Option("grains", MAPPING, {}, "Grains of this machine, over the detected ones."),
        Option(
            "grains_file",
            PATH,
            "",
            "A YAML file of grains; /etc/saltern/grains and /etc/salt/grains if not set.",
        ),
        Option("failhard", FLAG, False, "The first failed state ends the run."),
        Option("state_auto_order", FLAG, True, "States run in the order in which they are written."),
        Option("state_aggregate", FLAG_OR_TEXTS, False, "Let modules process several states together."),
        Option(
            "delayed_repeat_limit",
            NUMBER_OR_NONE,
            1,
            "How often a run renders one delayed block or SLS whose tag sets no limit; None: no limit.",
        ),
        Option("delayed_max_depth", NUMBER, 50, "How deep delayed frames may nest."),
        Option("delayed_max_frames", NUMBER, 1000, "How many delayed frames one run may have."),
        Option(
            "delayed_callback_timeout",
            SECONDS,
            300.0,
            "How long a run waits for a controller that must render a file or block and does not answer.",
        ),
        Option(
            "state_dir",
            PATH,
            "",
            "Where journals of runs are kept; if not set, `/var/lib/saltern`, or below the user's home.",
        ),
        Option(
            "chains_in_memory",
            FLAG,
            False,
            "Run action chains with reboots even if `state_dir` is in memory, which a reboot clears.",
        ),
        Option("queue_runs", SECONDS, 600, "How long a run waits for another one to end; 0: not at all."),
        Option(
            "salt_minion",
            PATH,
            "",
            "The cache directory of a Salt minion on this machine, such as `/var/cache/salt/minion`: it and"
            " saltern never apply states at once. See [the guide](../guides/salt-fleet.md).",
        ),
        Option(
            "reboot_command",
            TEXTS,
            [],
            "The program that reboots this machine, and its arguments; if not set, the machine's own."
            " `{time}` in an argument becomes `now`, minutes such as `+5`, or a time of day.",
        ),
        Option(
            "reboot_cancel_command",
            TEXTS,
            [],
            "The program that cancels a reboot, and its arguments; needed with `reboot_command`.",
        ),
        Option(
            "poweroff_command",
            TEXTS,
            [],
            "The program that halts this machine or switches it off, and its arguments, with `{time}` as in"
            " `reboot_command`; if not set, the machine's own.",
        ),
        Option("keep_runs", NUMBER, 100, "How many runs `saltern runs` remembers."),
        Option(
            "output_limit",
            NUMBER,
            16 << 20,
            "How many bytes of each output stream of a program are kept: half from its beginning, half "
            "from its end. A line between them says how much is left out.",
        ),
        Option(
            "output_file_limit",
            NUMBER,
            1 << 30,
            "How many bytes of a longer stream go to a file beside the journal, which is removed "
            "with it; 0: none.",
        ),
        Option("state_max_parallel", NUMBER, 0, "How many parallel states run at once; 0: no limit."),
        Option("state_events", FLAG, False, "Send an event for every finished state."),
        Option("disabled_requisites", TEXTS, [], "Requisites that are ignored."),
        Option(
            "global_state_conditions", MAPPING, {}, "Conditions for all states of a type: `{type: [target]}`."
        ),
        Option(
            "minion_options",
            MAPPING,
            {},
            "Other configuration of the Salt minion that runs saltern, for `opts`.",
        ),
        Option(
            "diff_new_files",
            FLAG,
            False,
            "Show the content of new files as a diff, like `new_file_diff` of `file.managed`, as plans do.",
        ),
        Option(
            "refresh_in_test",
            FLAG,
            True,
            "Test runs update package lists where a real run would; plans only with `--refresh`.",
        ),
        Option("cmd_safe", FLAG, True, "Commands called from templates and by hand get no shell."),
        Option(
            "backup_mode",
            TEXT,
            "",
            "Keep a copy of every file that is replaced.",
            ("", "minion", "master", "both"),
        ),
        Option(
            "hash_type",
            TEXT,
            "sha256",
            "The digest for files that name none.",
            ("md5", "sha1", "sha224", "sha256", "sha384", "sha512"),
        ),
        Option(
            "cachedir",
            PATH,
            "",
            "Files kept between runs; /var/cache/saltern or ~/.cache/saltern if not set.",
        ),
        Option("module_dirs", PATHS, [], "Further directories of modules."),
        Option(
            "plan_signers",
            PATH,
            "",
            "A file of keys, like sshd's `allowed_signers`; if set, only plans that one of them has"
            " signed are applied.",
        ),
        Option("extension_modules", PATH, "", "A directory of modules written for Salt."),
        Option(
            "log_level",
            TEXT,
            "warning",
            "Write a log of this level and above to stderr. `-v` is `info`.",
            ("quiet", "critical", "error", "warning", "info", "profile", "debug", "trace", "garbage", "all"),
        ),
        Option("color", FLAG_OR_TEXT, "auto", "Colours: true, false, or auto (only on a terminal)."),
        Option("state_verbose", FLAG, True, "Show states that succeeded without changes."),
        Option(
            "state_output",
            TEXT,
            "full",
            "How much to show of each state; with `_id` at the end, IDs instead of names.",
            ("full", "terse", "mixed", "changes", "filter"),
            endings=("_id", "_color", "_id_color"),
        ),
        Option("state_output_diff", FLAG, False, "Show only states that changed something or failed."),
        Option("state_output_profile", FLAG, True, "Show when each state began and how long it took."),
        Option("state_output_pct", FLAG, False, "Show success and failure in per cent."),
        Option("state_tabular", FLAG_OR_TEXT, False, "Align terse lines in columns; a text is the format."),
        Option("state_compress_ids", FLAG, False, "Show states of one ID and result as one."),
        Option("state_output_exclude", TEXTS, [], "Results `filter` hides: True, False, None."),
        Option("state_output_terse", TEXTS, [], "Results `filter` shortens: True, False, None."),
    )
}
