"""Run a command of saltern with the pillar and the grains of a minion, and a view of its master's files.

Salt injects no functions into utilities; the calling module passes its own to ``minion``.
"""

import base64
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Mapping

import salt.config
import salt.fileclient
import salt.payload
import salt.pillar

try:
    from salt.utils import secret
except ImportError:  # before Salt 3008
    secret = None

_SHARED = """
allow_undefined backup_mode cmd_safe default_top disabled_requisites env_order failhard
global_state_conditions gpg_decrypt_must_succeed hash_type jinja_env jinja_lstrip_blocks jinja_sls_env
jinja_trim_blocks lock_saltenv master master_tops_first module_dirs nodegroups pillar_merge_lists
pillar_raise_on_missing
pillar_source_merging_strategy pillarenv pillarenv_from_saltenv providers renderer renderer_blacklist
renderer_whitelist saltenv state_aggregate state_auto_order state_max_parallel state_top
state_top_saltenv top_file_merging_strategy
"""
SHARED = frozenset(_SHARED.split())
"""Options of the minion that mean the same to saltern."""
OF_MASTER = (
    "default_top",
    "env_order",
    "failhard",
    "jinja_env",
    "jinja_lstrip_blocks",
    "jinja_sls_env",
    "jinja_trim_blocks",
    "nodegroups",
    "renderer",
    "state_auto_order",
    "state_top",
    "state_top_saltenv",
    "top_file_merging_strategy",
)
"""Options that Salt takes from the master for a state run, whatever the minion has."""
EMPTY = (None, "", [], {})
RUNNING = ("arg", "fun", "grains", "jid", "metadata", "pillar", "ret", "saltern", "tgt", "tgt_type", "token")
"""What Salt adds to the options of a minion for a job."""
NAMED = ("apply", "plan", "check")
"""Commands whose last arguments are the names of state files, or none for the highstate."""
LOOKS = ("runs", "status", "pause", "cancel", "skip", "done", "release")
"""Commands, including those of chains, that need no file."""
TOPS = "saltern_master"
"""The name of the module that returns what ``master_tops`` of the master returned."""
MODULES = ("modules", "states", "utils", "renderers")
"""Kinds of modules that saltern can use in the form that Salt has synchronised."""
ENDED = (0, 1, 2, 3, 4, 5)
"""Exit codes after which there is nothing to resume."""
RETRIED = ("run", "retry")
"""Commands of chains that can be retried with the files they had."""
NOT_HERE = "call Salt's own function, in an SLS that state.apply applies"
KEPT_FOR = 30 * 86400  # seconds
FOLDER = "@folder"
"""Stands for the folder of a run in the arguments of its command."""


def minion(options, grains, utility, functions):
    """The minion that a command runs on; ``utility`` finds the other utilities of the extension."""
    return Minion(options, grains, utility, functions)


class Minion:
    """What a command needs from the minion. The folder of a run exists as long as the run may be resumed: its
    journal names the files in it."""

    def __init__(self, options, grains, utility, functions):
        self._options, self._utility, self._functions = options, utility, functions
        self._events = None  # whether the job asks for an event of each state
        self._files = None  # the file client of this run
        self._grains = dict(grains.value() if hasattr(grains, "value") else grains)

    def run(self, command, given, files, on_line):
        """Run a command; return its exit code, output and errors. ``files`` are written into its folder.

        ``given["serves"]``: the caller continues an earlier run, which may ask questions.
        """
        program, verb, *words = command
        self._events = given.get("state_events")
        part = words[words.index("--") + 1] if verb == "chain" and "--" in words else verb
        kept = self._kept_folders() if given.get("serves") or verb == "resume" else []
        folder = self._new_folder()
        for name, text in files.items():
            _write(folder, name, text)
        words = [word.replace(FOLDER, folder) for word in words]
        wants = () if part in LOOKS else ("files",) if _is_named(verb, words) else ("files", "tops")
        words = [verb, f"--config={self._write_configuration(folder, wants)}", *words]
        if given.get("pillar"):
            words.insert(1, f"--pillar={_write(folder, 'pillar.yaml', _json(given['pillar']))}")
        try:
            code, *texts = self._answered([program, *words], folder, kept, given, on_line)
        finally:
            self._close()
        if code in ENDED and (code == 0 or part not in RETRIED):
            _remove(folder, *(kept if len(kept) == 1 and verb == "resume" else ()))
        return code, *(_with_master_names(text, (folder, *kept)) for text in texts)

    def serve(self, seconds):
        """Answer questions of earlier runs for this time."""
        kept, folder = self._kept_folders(), self._new_folder()
        try:
            self._answered(["sleep", str(seconds)], folder, kept, {}, None)
        finally:
            self._close()
            _remove(folder)

    def _answered(self, command, folder, kept, given, on_line):
        """Run a command, and answer its questions; return its exit code, output and errors."""
        start = self._utility("saltern_process.start")
        process = start(command, folder, kept, given.get("timeout"), str(given.get("jid") or ""))
        for asked, question, reply in process.questions(on_line):
            reply(self._answer(asked, question))
        return process.result()

    # -- folders --------------------------------------------------------------------------------------------

    def _parent(self):
        return os.path.join(self._options["cachedir"], "saltern")

    def _new_folder(self):
        os.makedirs(self._parent(), 0o700, exist_ok=True)
        return tempfile.mkdtemp(prefix=time.strftime("%Y%m%d%H%M%S-"), dir=self._parent())

    def _kept_folders(self):
        """The folders of runs that broke or that reboot; very old ones are removed."""
        parent = self._parent()
        found = [one.path for one in os.scandir(parent) if one.is_dir()] if os.path.isdir(parent) else []
        found = [path for path in found if not self._utility("saltern_process.is_served")(path)]
        old = [path for path in found if os.stat(path).st_mtime < time.time() - KEPT_FOR]
        _remove(*old)
        return sorted(set(found) - set(old))

    # -- configuration --------------------------------------------------------------------------------------

    def _write_configuration(self, folder, wants):
        """Write the configuration of this run: the minion's options, and the sources of files and pillar.

        ``wants``: what to request from the master: ``files``, and ``tops`` if no state files are named.
        """
        listing = {env: self._listing(env) for env in self._client().envs()} if "files" in wants else {}
        listing = listing or {"base": ([], [], {})}
        options = self._options
        shared = {name: options.get(name) for name in SHARED} | (
            self._of_master() if "files" in wants else {}
        )
        found = {name: value for name, value in shared.items() if value not in EMPTY}
        found["minion_options"] = {name: options[name] for name in options if _is_own(name)}
        found |= (options.get("saltern") or {}).get("options") or {}
        found |= {
            "id": options["id"],
            "file_roots": self._utility("saltern_tree.make")(folder, listing),
            "file_tree": folder,
            "agent_socket": os.path.join(folder, "socket"),
            "extension_modules": self._link_synced_modules(folder),
            "grains_file": _write(folder, "grains.yaml", _json(self._grains)),
        }
        if "tops" in wants and (tops := self._master_tops()):
            os.mkdir(os.path.join(folder, "modules", "tops"), 0o700)
            _write(folder, f"modules/tops/{TOPS}.py", f"def top(**_):\n    return {tops!r}\n")
            found["master_tops"] = {TOPS: True}
        return _write(folder, "saltern.yaml", _json(found))

    def _of_master(self):
        """The options of the master that apply to a state run."""
        master = self._client().master_opts()
        if not isinstance(master, Mapping):
            return {}
        found = {name: master[name] for name in OF_MASTER if name in master}
        found["state_aggregate"] = self._options.get("state_aggregate") or master.get("state_aggregate")
        events = self._options.get("state_events") if self._events is None else self._events
        found["state_events"] = bool(events or master.get("state_events"))
        if "state_top" in found:
            found["state_top"] = found["state_top"].replace("salt://", "", 1).lstrip("/")
        return found

    def _listing(self, environment):
        """The contents of an environment, without modules: Salt synchronises those."""
        client = self._client()
        files, directories, links = (
            ask(environment) or () for ask in (client.file_list, client.dir_list, client.symlink_list)
        )
        own = tuple(f"_{kind}/" for kind in (*MODULES, "grains", "pillar", "tops", "runners", "returners"))
        files = [path for path in files if not path.startswith(own)]
        return files, [path for path in directories if not f"{path}/".startswith(own)], dict(links)

    def _master_tops(self):
        """The state files of each environment for this minion, from ``master_tops`` of the master."""
        found = self._client().master_tops() or {}
        return {str(env): [str(name) for name in names] for env, names in found.items()}

    def _client(self):
        """One file client for everything that a run requests: it is expensive to make."""
        if self._files is None:
            self._files = salt.fileclient.get_file_client(self._options)
        return self._files

    def _close(self):
        if hasattr(self._files, "destroy"):  # a client that asks a master
            self._files.destroy()
        self._files = None

    def _link_synced_modules(self, folder):
        """The directory of synchronised modules, without grains: the minion passes its own."""
        found = os.path.join(folder, "modules")
        os.mkdir(found, 0o700)
        for kind in MODULES:
            source = os.path.join(self._options["extension_modules"], kind)
            if os.path.isdir(source):
                os.symlink(source, os.path.join(found, kind))
        return found

    # -- what saltern asks while it runs --------------------------------------------------------------------

    def _answer(self, folder, question):
        known = {
            "file": self._give_file,
            "pillar": self._give_pillar,
            "event": self._send_event,
            "mine": self._give_mine,
        }
        if question["ask"] not in known:
            return {"problem": f"a run under Salt has no answer to {question['ask']!r}", "fix": NOT_HERE}
        try:
            return known[question["ask"]](folder, question)
        except Exception as problem:  # any error of the file client becomes the answer
            return {"problem": str(problem) or type(problem).__name__, "fix": "look at the log of the minion"}

    def _give_file(self, folder, question):
        environment, path = self._utility("saltern_tree.environment_of")(folder, question["path"])
        cached = self._client().cache_file(f"salt://{path}", environment)
        if not cached:
            listed = self._utility("saltern_tree.is_listed")(folder, question["path"])
            return (
                {"problem": "the master does not have it any more", "fix": "run it again"} if listed else {}
            )
        self._utility("saltern_tree.place")(folder, question["path"], cached)
        return {}

    def _give_pillar(self, _folder, question):
        overrides = salt.payload.loads(base64.b64decode(question["overrides"]))
        found = _plain(
            salt.pillar.get_pillar(
                self._options,
                self._grains,
                self._options["id"],
                pillar_override=overrides or None,
                pillarenv=question.get("environment") or self._options.get("pillarenv"),
            ).compile_pillar()
        )
        problems = found.get("_errors")
        if problems:
            text = "; ".join(map(str, problems))
            return {"problem": text, "fix": "correct it on the master; no state was run"}
        return {"pillar": base64.b64encode(salt.payload.dumps(found)).decode()}

    def _send_event(self, _folder, question):
        """Send an event to the master, as Salt's own state runs do."""
        if self._options.get("local"):
            return {"unheard": True}
        send = self._functions["event.fire_master"]
        sent = send(question.get("data"), question["tag"], preload=question.get("preload") or None)
        return {} if sent else {"unheard": True}

    def _give_mine(self, _folder, question):
        """Values from the mine of the master. Only Salt's own functions write it."""
        if "target" not in question:
            return {"problem": "a run under Salt does not write the mine", "fix": NOT_HERE}
        names = question["functions"]
        return {"data": self._functions["mine.get"](question["target"], names, question["matcher"])}


def _is_own(name):
    """True if an option is not one of Salt's, but the user's own, for templates."""
    return not (name in salt.config.DEFAULT_MINION_OPTS or name in RUNNING or name.startswith("_"))


def _is_named(verb, words):
    return verb in NAMED and words[-1:] != ["--"]


def _plain(pillar):
    """The pillar without the masks that Salt 3008 puts around its values."""
    expose = getattr(secret, "expose", None)
    return expose(pillar) if expose else pillar


def _with_master_names(text, folders):
    """A text with the local paths of the master's files replaced by the names that users know."""
    for folder in folders:
        text = re.sub("/?" + re.escape(os.path.join(folder, "roots")[1:]) + r"/[^/\"]+/", "salt://", text)
    return text


def _remove(*folders):
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _json(data):
    return json.dumps(data, default=str)


def _write(folder, name, text):
    path = os.path.join(folder, name)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    return path
